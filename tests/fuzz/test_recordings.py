"""Whatever stands in a recording, its replay ends with a result or with words about what is wrong."""

from hashlib import shake_256

import pytest

from proxy.core import jsontext
from proxy.core.errors import Fault
from proxy.core.recorded.difference import differences
from proxy.core.recorded.keys import Keys, without_keys
from proxy.core.recorded.lines import BadRecording, read, written
from proxy.core.recorded.recording import RecordedKnown, Recording
from proxy.core.recorded.replay import How, replay
from proxy.core.recorded.transcript import NoTranscript, transcript
from tests.fuzz.wrong import spoiled
from tests.support.recordings import HELLO, as_it_is, attempt, fault, recording
from tests.support.replies import DONE, REQUEST, call_chunk, chunk
from tests.support.weather import WEATHER

CALL = (call_chunk(0, "call_1", "get_weather", '{"city": 7}'), chunk({}, "tool_calls"), DONE)
KNOWN = RecordedKnown(
    previous="resp_1", history=b'[{"role": "user", "content": "Before"}]', memos={"a": b"{}"}
)
CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
MESSAGE = {"type": "response.create", "model": "m", "input": "Hi"}

SAMPLES: dict[str, Recording] = {
    "calls": recording(REQUEST | {"tools": [WEATHER]}, [attempt(*CALL)], conditions={"signs": [0, 1]}),
    "attempts": recording(
        REQUEST | {"previous_response_id": "resp_1"},
        [attempt(b"busy", status=503), attempt(*HELLO[:2], why="again", failure=fault(details={"a": 1}))],
        conditions={"known": KNOWN, "digits": ["ab" * 16], "dates": [5.0], "real_model": "m"},
        end={"not_stored": "No."},
    ),
    "native": recording(CHAT | {"conversation_id": "c"}, surface="native", conditions={"known": KNOWN}),
    "socket": recording(jsontext.dumps(MESSAGE), transport="websocket", framing="socket"),
    "refused": recording(attempts=[], status=429, end={"fault": fault("TooMany", status=429)}),
    "counted": recording(
        CHAT | {"input": "Hi"}, [attempt(b'{"count": 7}', profile="vllm")], surface="input_tokens"
    ),
}
ONE_IN = 2
DAMAGED = 60


def taken(data: bytes) -> None:
    try:
        made = read(data)
        for how in (How(), How(cut="whole")):
            again = replay(made, how)
            differences(made, again, cut=how.cut == "whole")
        written(without_keys(made, Keys()))
        transcript(made)
    except (BadRecording, NoTranscript, Fault) as refusal:
        words = str(refusal)
    else:
        return
    assert words


def lines_of(name: str) -> list[bytes]:
    return written(as_it_is(SAMPLES[name])).splitlines()


@pytest.mark.parametrize("name", SAMPLES)
def test_a_wrong_value_anywhere(name: str) -> None:
    lines = lines_of(name)
    for number, line in enumerate(lines):
        for told, wrong in spoiled(jsontext.strict(line), one_in=ONE_IN):
            try:
                taken(b"\n".join([*lines[:number], wrong, *lines[number + 1 :]]))
            except Exception as failure:
                failure.add_note(f"line {number + 1}: {told}")
                raise


@pytest.mark.parametrize("name", SAMPLES)
def test_lines_that_are_missing_twice_there_or_elsewhere(name: str) -> None:
    lines = lines_of(name)
    for number, line in enumerate(lines):
        rest = lines[:number] + lines[number + 1 :]
        for changed in (
            rest,
            [*lines[: number + 1], line, *lines[number + 1 :]],
            [*rest, line],
            [line, *rest],
        ):
            taken(b"\n".join(changed))


@pytest.mark.parametrize("name", SAMPLES)
def test_damaged_bytes(name: str) -> None:
    data = b"\n".join(lines_of(name))
    dice = memoryview(shake_256(name.encode()).digest(8 * DAMAGED)).cast("I")
    for at, other in zip(dice[::2], dice[1::2], strict=True):
        place = at % len(data)
        taken(data[:place])
        taken(data[:place] + bytes([other % 256]) + data[place + 1 :])
        taken(data[:place] + data[other % len(data) :])
