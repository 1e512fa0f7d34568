"""F16, F17, F23, F27: the first visible byte says what a body is, however it is cut and whatever its headers say."""

import pytest

from proxy.core.errors import Fault, Garbled
from proxy.core.sse import MAX_EVENT_BYTES
from proxy.core.stream.intake import BOM, Intake
from tests.support.replies import bytewise, cut
from tests.support.tables import table


class Recorder:
    """What a decoder is told, in order."""

    def __init__(self) -> None:
        self.told: list[tuple[str, bytes]] = []
        self.faults: list[Fault] = []
        self.intake = Intake(self)

    def event(self, data: bytes, event: bytes) -> None:
        self.told.append((event.decode() or "event", data))

    def body(self, data: bytes) -> None:
        self.told.append(("body", data))


def taken_in(data: bytes, pieces: list[bytes] | None = None) -> Recorder:
    recorder = Recorder()
    try:
        for piece in pieces or [data]:
            recorder.intake.feed(piece)
        recorder.intake.close()
    except Garbled as fault:
        recorder.faults.append(fault)
    return recorder


BODIES = [
    pytest.param(
        b'data: {"a":1}\n\ndata: [DONE]\n\n', [("event", b'{"a":1}'), ("event", b"[DONE]")], id="stream"
    ),
    pytest.param(b'event: error\ndata: {"a":1}\n\n', [("error", b'{"a":1}')], id="named event"),
    pytest.param(b': ping\n\ndata: {"a":1}\n\n', [("event", b'{"a":1}')], id="comment first"),
    pytest.param(b'data: {"a":1}', [("event", b'{"a":1}')], id="F33 unended last event"),
    pytest.param(b'data: {"a":', [], id="F33 cut last event"),
    pytest.param(b"data: [DONE]", [("event", b"[DONE]")], id="F33 unended end"),
    pytest.param(b"data: [DON", [], id="F33 cut end"),
    pytest.param(b"data:  ", [], id="F33 blanks, of which anything may have become"),
    pytest.param(b"event: error\ndata: bo", [("error", b"bo")], id="F20 unended words of an error"),
    pytest.param(b'data: {"a":1}\ndata: {"b":', [("event", b'{"a":1}\n{"b":')], id="lines for events, cut"),
    pytest.param(b'{"a":\n1}', [("body", b'{"a":\n1}')], id="F17 object"),
    pytest.param(b'[{"a":1}]', [("body", b'[{"a":1}]')], id="list"),
    pytest.param(b'\n \r\n\t{"a":1}\n', [("body", b'{"a":1}\n')], id="blank lines before an object"),
    pytest.param(b'\r\n\ndata: {"a":1}\n\n', [("event", b'{"a":1}')], id="blank lines before a stream"),
    pytest.param(BOM + b'{"a":1}', [("body", b'{"a":1}')], id="F27 mark before an object"),
    pytest.param(BOM + b'data: {"a":1}\n\n', [("event", b'{"a":1}')], id="F27 mark before a stream"),
    pytest.param(BOM + b' \n{"a":1}', [("body", b'{"a":1}')], id="mark and blank lines"),
    pytest.param(BOM[:2] + b"data: x\n\n", [("event", b"x")], id="half a mark"),
    pytest.param(b"Internal Server Error", [], id="plain text"),
    pytest.param(b"", [], id="nothing"),
    pytest.param(BOM + b"\r\n \t", [], id="nothing visible"),
]


@table(("data", "told"), BODIES)
def test_the_first_visible_byte_decides(data: bytes, told: list[tuple[str, bytes]]) -> None:
    assert taken_in(data).told == told


@table(
    "data",
    [
        *(body.values[0] for body in BODIES),
        b"\n" + BOM + b'{"a":1}',
        BOM + b"\n" + BOM + b'{"a":1}',
        BOM + BOM + b'{"a":1}',
        b" \n" + BOM + b'data: {"a":1}\n\n',
    ],
)
def test_no_cut_changes_what_it_is(data: bytes) -> None:
    told = taken_in(data).told
    assert taken_in(data, list(bytewise(data))).told == told
    for at in range(len(data)):
        assert taken_in(data, cut(data, [at])).told == told, f"cut at {at}"


@table("page", [b"<html>", b"\n <!DOCTYPE html>", BOM + b"<?xml"])
def test_f16_a_web_page_is_refused_and_not_shown(page: bytes) -> None:
    recorder = taken_in(page)
    assert recorder.told == []
    [fault] = recorder.faults
    assert isinstance(fault, Garbled)
    assert fault.code == "upstream_invalid_response"
    assert page.strip().decode() not in fault.message


def test_f31_an_event_over_the_limit_is_a_fault_and_no_exception() -> None:
    recorder = taken_in(b"data: " + b"x" * (MAX_EVENT_BYTES + 1))
    assert [type(fault) for fault in recorder.faults] == [Garbled]


@table("data", [b"", b" ", b"\r\n\n", BOM, BOM[:1], BOM + b"\n"])
def test_white_space_alone_is_silence(data: bytes) -> None:
    assert taken_in(data).intake.silent


@table("data", [b"{", b": comment", b"x"])
def test_anything_visible_is_not(data: bytes) -> None:
    assert not taken_in(data).intake.silent


def kept(intake: Intake) -> dict[str, object]:
    return {name: value for name, value in vars(intake).items() if name != "_decoder"}


def test_blank_lines_that_keep_a_connection_alive_are_not_kept() -> None:
    """A backend may send them for minutes: the state afterwards is the same as after none."""
    recorder, fresh = Recorder(), Recorder()
    for _ in range(1000):
        recorder.intake.feed(b"\n")
    assert kept(recorder.intake) == kept(fresh.intake)


def test_attack_22_a_body_that_cannot_be_read_at_once_is_refused() -> None:
    piece = b'{"a":"' + b"x" * (1 << 20)
    large = taken_in(b"", [piece] * 33)
    assert [fault.code for fault in large.faults] == ["upstream_reply_too_large"]
    many = taken_in(b'{"a":[%b0]}' % (b"[]," * 500_000))
    assert "values" in many.faults[0].message
    assert many.told == large.told == []
