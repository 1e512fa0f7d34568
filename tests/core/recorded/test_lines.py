"""A recording as a file."""

import pytest

from proxy.core.recorded.lines import BadRecording, read, written
from proxy.core.recorded.recording import RecordedKnown
from tests.support.recordings import HELLO, as_it_is, attempt, fault, recording

TEXT = written(as_it_is(recording()))


def test_it_comes_back() -> None:
    made = as_it_is(
        recording(
            attempts=[attempt(b"\xff half", failure=fault()), attempt(*HELLO, began=0.05, why="again")],
            end={"facts": {"status": 200}, "remarks": {"oddities": {"x": 1}}, "warnings": ["w"]},
        )
    )
    assert read(written(made)) == made


def test_things_stand_in_the_order_in_which_they_happened() -> None:
    kinds = [next(iter(line.split(b":"))) for line in TEXT.splitlines()]
    assert kinds[:4] == [b'{"recording"', b'{"request"', b'{"attempt"', b'{"read"']
    assert kinds[-1] == b'{"end"'


def test_blank_lines_do_no_harm() -> None:
    assert read(TEXT.replace(b"\n", b"\n\n")) == read(TEXT)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not JSON"),
        (b"[]", "no JSON object"),
        (b"{}", "no recording"),
        (TEXT.replace(b'"version":1', b'"version":2'), "version 2"),
        (TEXT[: TEXT.rindex(b'{"end"')], "no line 'end'"),
        (TEXT.splitlines()[0], "no line 'request'"),
        (TEXT + b'{"what": 1}', "none that a recording has"),
        (TEXT + b'{"read": 7, "at": 0, "text": ""}', "none that a recording has"),
        (TEXT + b'{"read": 0, "at": -1, "text": ""}', "greater than or equal to 0"),
        (TEXT + b'{"frame": true, "at": 0}', "'text' or as 'base64'"),
        (TEXT + b'{"end": {}}', "status"),
        (TEXT + b'{"end": {"status": 200, "seconds": 1, "answer": {"text": ""}}}', "answer"),
        (TEXT + b'{"a": ' + b"[" * 70 + b"]" * 70 + b"}", "deeper"),
        (written(recording(conditions={"known": RecordedKnown(history=b"{}")})), "a list is wanted"),
        (TEXT + b"\xff", "not JSON"),
    ],
)
def test_what_is_wrong_with_it_is_said(data: bytes, why: str) -> None:
    with pytest.raises(BadRecording) as refusal:
        read(data)
    assert why in str(refusal.value)


def test_it_says_what_was_left_out() -> None:
    made = read(
        TEXT.replace(b'"content":"keep"', b'"content":"masked"').replace(b'"cut":false', b'"cut":true')
    )
    assert (made.content, made.cut) == ("masked", True)
