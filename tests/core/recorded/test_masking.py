"""S06: a recording without a word of what was said, which replays to events of the same kinds."""

import pytest

from proxy.core import jsontext
from proxy.core.recorded.difference import differences
from proxy.core.recorded.lines import read, written
from proxy.core.recorded.masking import Masker, masked
from proxy.core.recorded.recording import RecordedKnown
from proxy.core.recorded.replay import replay
from tests.support.recordings import as_it_is, attempt, fault, recording
from tests.support.replies import DONE, REQUEST, STOP, WEATHER, chunk
from tests.support.tables import table

WITH_WEATHER = REQUEST | {
    "tools": [WEATHER],
    "input": "Canary wharf 4711",
    "metadata": {"canary": "wharf"},
    "text": {
        "format": {
            "type": "json_schema",
            "name": "an_answer",
            "schema": {"enum": ["Oslo", 7], "const": "Rome"},
        }
    },
}
MASKER = Masker(jsontext.dumps(WITH_WEATHER))
LEAKED = '<tool_call>{"name": "get_weather", "arguments": {"city": "Canary 4711"}}</tool_call>'


@table(
    ("text", "left"),
    [
        ("Hello 42 W\u00f6rld, get_weather in Oslo or Rome", "Xxxxx 11 Xéxxx, get_weather xx Oslo xx Rome"),
        ("\u5b57 \U0001f600 \U00010400", "\u5b57 \U0001f600 \U00010428"),
        ("1.5e3 7x", "1.1e1 1x"),
        ('{"role":"user","content":"Hi"}', '{"role":"user","content":"Xx"}'),
        ('{"role":"no role at all"}', '{"role":"xx xxxx xx xxx"}'),
        ('{"input":{"city":"Paris","n":-2.5,"on":true}}', '{"input":{"city":"Xxxxx","x":-1.1,"xx":true}}'),
        ('{"input":[{"type":"message"}]}', '{"input":[{"type":"message"}]}'),
        ('{"n":7,"a":["b"]}', '{"n":7,"a":["x"]}'),
        ('{"a":"\\u00e9\\n\\u5b57\\ud83d\\"x"}', '{"a":"\\u00e9\\n\\u5b57\\ud83d\\"x"}'),
        ('event: some.event\ndata: {"content":"a b"}\n\n', 'event: some.event\ndata: {"content":"x x"}\n\n'),
        ('{"content":"get_wea"}\n{"content":"ther"}', '{"content":"get_wea"}\n{"content":"ther"}'),
        (": a comment\n<html>Lost</html>}\n", ": x xxxxxxx\n<xxxx>Xxxx</xxxx>}\n"),
        ('"cut', '"xxx'),
        ('{"a":"cut', '{"a":"xxx'),
    ],
)  # fmt: skip
def test_every_length_stays(text: str, left: str) -> None:
    hidden = MASKER.bytes(text.encode())
    assert hidden.decode() == left
    assert len(hidden) == len(text.encode())


def test_bytes_that_are_no_text_stay() -> None:
    assert MASKER.bytes(b"\xff\xfe lost") == b"\xff\xfe xxxx"


def test_the_pieces_are_cut_where_they_were() -> None:
    data = b'data: {"content":"W\xc3\xb6rld"}\n\n'
    pieces = [(float(at), data[at : at + 1]) for at in range(len(data))]
    assert [len(piece) for _, piece in MASKER.passed(pieces)] == [1] * len(data)


@pytest.mark.parametrize("stream", [True, False])
def test_it_replays_to_events_of_the_same_kinds(stream: bool) -> None:
    """S06."""
    reads = [chunk({"content": LEAKED[at : at + 7]}) for at in range(0, len(LEAKED), 7)]
    history, items = b'[{"role":"user","content":"Canary"}]', {"a": b'{"b":"Canary"}'}
    known = RecordedKnown(previous="resp_1", history=history, items=items)
    made = recording(
        WITH_WEATHER | {"stream": stream, "previous_response_id": "resp_1"},
        [attempt(*reads, STOP, DONE, body=b'{"content":"Canary"}')],
        conditions={"known": known},
        end={"warnings": ["Canary"]},
    )
    hidden = read(written(masked(as_it_is(made))))
    again = replay(hidden)
    assert differences(hidden, again) == []
    text = b"".join(again.frames) + jsontext.dumps(again.answer)
    assert b'"name":"get_weather"' in text
    for canary in (b"anary", b"wharf", b"4711"):
        assert canary not in written(hidden) + text


def test_what_differs_is_still_seen() -> None:
    hidden = masked(as_it_is(recording()))
    hidden.attempts[0].reads.pop()
    hidden.attempts[0].reads.pop()
    assert differences(hidden, replay(hidden)) != []


def test_a_refusal_is_taken_as_it_was_told() -> None:
    busy = fault(
        "RateLimited", "Canary limit", status=429, code="rate_limit_exceeded", details={"a": "Canary"}
    )
    refused = attempt(b'{"error":{"message":"Canary"}}', status=429, failure=busy)
    made = as_it_is(recording(attempts=[refused], status=429, end={"fault": busy}))
    hidden = masked(made)
    again = replay(hidden)
    assert (again.status, again.fault and again.fault.code) == (429, "rate_limit_exceeded")
    assert differences(hidden, again) == []
    assert b"Canary" not in written(hidden)


def test_a_body_that_never_came_or_is_no_json_has_no_names() -> None:
    assert masked(recording(b"lost JSON")).request.body == b"xxxx XXXX"
    assert masked(recording(b"[1]")).request.body == b"[1]"
    made = recording(attempts=[], status=500)
    made.request.body = None
    assert masked(made).request.body is None


def test_the_names_that_a_backend_was_told_stay_too() -> None:
    """A tool in a namespace has another name there, and one that is declared by its type has a name there alone."""
    told = jsontext.dumps({"tools": [{"type": "function", "name": "docs__find"}, {"name": "shell"}]})
    masker = Masker(jsontext.dumps({"tools": [{"type": "namespace", "name": "docs"}]}), told)
    assert masker.text("docs docs__find shell find") == "docs docs__find shell xxxx"
