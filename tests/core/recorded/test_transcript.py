"""A recording as a pair of the tests, which `test_transcripts` would take."""

import pytest

from proxy.core import jsontext
from proxy.core.recorded.transcript import NoTranscript, transcript
from tests.support.recordings import HELLO, attempt, fault, recording
from tests.support.replies import DONE, REQUEST, STOP, chunk, outline, read_stream, run


def test_its_events_are_those_that_the_tests_have() -> None:
    made = transcript(recording(REQUEST | {"store": True}))
    assert made.sse == b"".join(HELLO)
    assert made.request == {"body": REQUEST}
    assert made.events == outline(read_stream(b"".join(run(made.sse, made.request["body"]).frames)))
    files = made.files("calls/new")
    assert sorted(files) == ["calls/new.jsonl", "calls/new.request.json", "calls/new.sse"]
    assert [jsontext.loads(line) for line in files["calls/new.jsonl"].splitlines()] == made.events


def test_what_was_otherwise_than_usual_is_said() -> None:
    thought = chunk({"reasoning_content": "hm"})
    broken = attempt(thought, HELLO[1], profile="deepseek", failure=fault(), why="again")
    broken.profile["markup"] = False
    made = transcript(
        recording(REQUEST | {"include": ["reasoning.encrypted_content"]}, [attempt(status=503), broken])
    )
    assert made.request["how"] == {"profile": "deepseek", "overrides": {"markup": False}, "broken_off": True}
    assert made.events[-1]["type"] == "response.failed"


def test_tokens_are_told_by_what_they_hold() -> None:
    made = recording(
        REQUEST | {"include": ["reasoning.encrypted_content"], "store": False},
        [attempt(chunk({"reasoning_content": "hm"}), *HELLO[:2], STOP, DONE)],
    )
    items = [
        event["item"] for event in transcript(made).events if event["type"] == "response.output_item.done"
    ]
    assert items[0]["encrypted_content"]["text"] == "hm"
    summed = recording(
        REQUEST | {"input": [{"role": "user", "content": "Hi"}, {"type": "compaction_trigger"}]}
    )
    items = [
        event["item"] for event in transcript(summed).events if event["type"] == "response.output_item.done"
    ]
    assert items[0]["encrypted_content"] == "Hello"


def test_what_has_no_bytes_of_a_reply_makes_none() -> None:
    with pytest.raises(NoTranscript, match="No backend has answered"):
        transcript(recording(attempts=[attempt(status=503)]))
    with pytest.raises(NoTranscript, match="no JSON object"):
        transcript(recording(b"7"))
    with pytest.raises(NoTranscript, match="another surface"):
        transcript(recording(surface="chat"))
