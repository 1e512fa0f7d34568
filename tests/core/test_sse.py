"""Server-sent events: every way to write them gives the same events, whatever the cuts."""

from collections.abc import Iterable
from time import process_time

import pytest

from proxy.core.errors import Garbled
from proxy.core.sse import DONE, SseParser, comment, is_whole
from tests.support.tables import table

Events = list[tuple[bytes, bytes]]

ONE: Events = [(b'{"a":1}', b"")]
TWO: Events = [*ONE, (b'{"b":2}', b"")]

FIXTURES: dict[str, tuple[bytes, Events]] = {
    "plain": (b'data: {"a":1}\n\ndata: {"b":2}\n\n', TWO),
    "F24 CRLF": (b'data: {"a":1}\r\n\r\ndata: {"b":2}\r\n\r\n', TWO),
    "F24 CR": (b'data: {"a":1}\r\rdata: {"b":2}\r\r', TWO),
    "F24 mixed": (b'data: {"a":1}\r\n\ndata: {"b":2}\n\r\n', TWO),
    "F24 all in a row": (b'data: {"a":1}\n\r\r\n\r\ndata: {"b":2}\r\r\n', TWO),
    "F25 no space": (b'data:{"a":1}\n\n', ONE),
    "F25 two spaces: one is removed": (b"data:  x\n\n", [(b" x", b"")]),
    "F26 several lines": (b'data: {"a":\ndata: 1}\n\n', [(b'{"a":\n1}', b"")]),
    "F26 an empty line among them": (b"data: x\ndata\ndata:\ndata: y\n\n", [(b"x\n\n\ny", b"")]),
    "F27 byte order mark": (b'\xef\xbb\xbfdata: {"a":1}\n\n', ONE),
    "F27 only at the start": (b'data: {"a":1}\n\n\xef\xbb\xbfdata: {"b":2}\n\n', ONE),
    "F27 alone at the end": (b'\xef\xbb\xbfdata: {"a":1}', ONE),
    "F28 characters of several bytes": ("data: né😀\n\n".encode(), [("né😀".encode(), b"")]),
    "F30 comments, ids, retries, strangers": (
        b': ping\nid: 7\nretry: 10\nstranger: x\ndata: {"a":1}\n: OPENROUTER PROCESSING\nno colon\n\n',
        ONE,
    ),
    "F30 comments alone": (b": ping\n\n: pong\n\n", []),
    "F30 events without data": (b"event: ping\n\ndata:\n\ndata\n\nid: 3\n\n", []),
    "F33 the last without its blank line": (b'data: {"a":1}\n\ndata: {"b":2}\n', TWO),
    "F33 the last without any line end": (b'data: {"a":1}\n\ndata: {"b":2}', TWO),
    "F37 other separators are text": (
        "data: {a\u2028\x0b\x0c\x1c\x85\0b}\n\n".encode(),
        [("{a\u2028\x0b\x0c\x1c\x85\0b}".encode(), b"")],
    ),
    "blank lines first": (b'\n\n\n\r\ndata: {"a":1}\n\n', ONE),
    "three blank lines between": (b'data: {"a":1}\n\n\n\ndata: {"b":2}\n\n', TWO),
    "names": (b'event: error\ndata: {"a":1}\n\ndata: {"b":2}\n\n', [(b'{"a":1}', b"error"), TWO[1]]),
    "F20 an error in a field of its own": (
        b'error: {"a":1}\n\ndata: {"b":2}\n\n',
        [(b'{"a":1}', b"error"), TWO[1]],
    ),
    "a name after its data, without space": (b'data: {"a":1}\nevent:x\n\n', [(b'{"a":1}', b"x")]),
    "a field that begins like data": (b'database: 1\ndata : 2\ndata: {"a":1}\n\n', ONE),
    "JSON in no field, with which Gemini breaks off": (
        b'data: {"a":1}\n\n[{"b":\n2}]',
        [*ONE, (b'[{"b":\n2}]', b"")],
    ),
    "the end mark": (DONE, [(b"[DONE]", b"")]),
    "nothing": (b"", []),
}


def parse(pieces: Iterable[bytes], limit: int = 1000) -> Events:
    events: Events = []
    parser = SseParser(lambda data, event: events.append((data, event)), limit)
    for piece in pieces:
        parser.feed(piece)
    parser.close()
    return events


@table(("stream", "events"), FIXTURES.values(), ids=FIXTURES.keys())
class TestEveryCutGivesTheSameEvents:
    def test_whole(self, stream: bytes, events: Events) -> None:
        assert parse([stream]) == events

    def test_byte_by_byte(self, stream: bytes, events: Events) -> None:
        """F32."""
        assert parse(stream[i : i + 1] for i in range(len(stream))) == events

    def test_cut_in_two_at_every_place_with_an_empty_read_between(
        self, stream: bytes, events: Events
    ) -> None:
        for at in range(len(stream) + 1):
            assert parse([stream[:at], b"", stream[at:]]) == events


def test_an_event_leaves_as_soon_as_its_blank_line_is_there() -> None:
    events: Events = []
    parser = SseParser(lambda data, event: events.append((data, event)))
    parser.feed(b'data: {"a":1}\n')
    assert events == []
    parser.feed(b"\n")
    assert events == ONE
    parser.feed(b'data: {"b":2}\r\n\r')
    assert events == TWO


def test_closing_twice_says_nothing_twice() -> None:
    events: Events = []
    parser = SseParser(lambda data, event: events.append((data, event)))
    parser.feed(b'data: {"a":1}')
    parser.close()
    parser.close()
    assert events == ONE


class TestLimit:
    def test_an_event_up_to_the_limit_passes(self) -> None:
        assert parse([b"data: ", b"x" * 94, b"\n\n"], limit=100) == [(b"x" * 94, b"")]

    @table("line", [b"data: " + b"x" * 100, b"data: x\n" * 20, b": " + b"x" * 100])
    def test_what_never_ends_is_refused(self, line: bytes) -> None:
        """F31: one endless line, endless lines of one event, an endless comment."""
        with pytest.raises(Garbled, match="100 bytes") as caught:
            parse((line[i : i + 1] for i in range(len(line))), limit=100)
        assert caught.value.code == "upstream_protocol_error"

    def test_events_before_the_refused_one_are_delivered(self) -> None:
        events: Events = []
        parser = SseParser(lambda data, event: events.append((data, event)), 100)
        with pytest.raises(Garbled):
            parser.feed(b'data: {"a":1}\n\ndata: ' + b"x" * 100)
        assert events == ONE

    def test_many_small_events_never_add_up(self) -> None:
        assert len(parse([b"data: x\n\n"] * 1000, limit=20)) == 1000


@table(("size", "piece"), [(30_000, 1), (1_000_000, 256)])
def test_the_time_grows_with_the_bytes_not_with_their_square(size: int, piece: int) -> None:
    """F31, F32: linear takes a twentieth of the allowed time, quadratic many times as much."""
    stream = b"data: " + b"x" * size + b"\n\n"
    pieces = [stream[i : i + piece] for i in range(0, len(stream), piece)]
    started = process_time()
    assert len(parse(pieces, limit=2 * size)) == 1
    assert process_time() - started < 1


def test_what_we_write_reads_as_it_is_meant() -> None:
    stream = comment("keep-alive") + DONE
    assert stream == b": keep-alive\n\ndata: [DONE]\n\n"
    assert parse([stream]) == [(b"[DONE]", b"")]


LINES = {
    "an object": (b'{"a":1}', True),
    "any other value, among blanks": (b" 1\t", True),
    "what is not quite JSON": (b'{"a":NaN}', True),
    "the end mark": (b"[DONE]", True),
    "the end mark, with something behind it": (b" [DONE] .", True),
    "a cut object": (b'{"a":', False),
    "a cut end mark": (b"[DON", False),
    "words": (b"ping", False),
    "nothing": (b"", False),
    "blanks": (b" \t", False),
}


@table(("line", "whole"), LINES.values(), ids=LINES)
def test_f33_a_line_is_whole_if_nothing_of_it_can_be_missing(line: bytes, whole: bool) -> None:
    assert is_whole(line) is whole


def in_reads(event: bytes) -> list[bytes]:
    return [event[at : at + 65536] for at in range(0, len(event), 65536)]


@pytest.mark.parametrize("end", [b"\n\n", b""])
def test_attack_22_an_event_that_cannot_be_read_at_once_is_refused(end: bytes) -> None:
    """However it is cut by reads, and ended or not; what comes with it is another's."""
    values = b"data: [%b0]" % (b"[]," * 600_000)
    with pytest.raises(Garbled, match="values"):
        parse([*in_reads(values), end], limit=1 << 24)
    with pytest.raises(Garbled, match="lines"):
        parse([*in_reads(b"data: x" + b"\ndata:" * 100_001), end], limit=1 << 24)
    fair = b"data: [%b0]" % (b"1," * 60_000)
    assert (
        len(parse([*in_reads(fair), b"\n\n" + b"data: 1\n\n" * 60_000, fair, end], limit=1 << 24)) == 60_002
    )
