"""S05, S06: no key is in a recording, wherever it was."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.masking.secrets import Secrets
from proxy.core.recorded.difference import differences
from proxy.core.recorded.keys import Keys, without_keys
from proxy.core.recorded.lines import written
from proxy.core.recorded.outline import events_of
from proxy.core.recorded.recording import Recording
from proxy.core.recorded.replay import replay
from tests.support.recordings import HELLO, as_it_is, attempt, fault, recording
from tests.support.replies import DONE, STOP, call_chunk, chunk

KEY = "correct-horse-battery-staple"
KEYS = Keys(Secrets([KEY]))
CANARY = b"horse-batt"


def text(made: Any) -> bytes:
    return written(without_keys(made, KEYS))


@pytest.mark.parametrize(
    "made",
    [
        recording({"model": "m", "input": f"My key is {KEY}."}),
        recording({"model": "m", "input": "Hi", "metadata": {KEY: KEY}}),
        recording(attempts=[attempt(f'{{"error":{{"message":"bad key {KEY}"}}}}'.encode(), status=401)]),
        recording(
            attempts=[attempt(b'{"error":"bad key correct-hor', b"se-battery-sta", b'ple"}', status=401)]
        ),
        recording(attempts=[attempt(body=KEY.encode(), failure=fault(message=KEY, details={"a": [KEY, 1]}))]),
        recording(
            attempts=[attempt(headers={"X-A": KEY}, answer_headers={"X-B": KEY}, url=f"http://h/{KEY}")]
        ),
        recording(
            end={"fault": fault(message=f"It said: {KEY}"), "answer": f'"{KEY}"'.encode(), "warnings": [KEY]}
        ),
        replace(recording(), frames=[(0.1, KEY[:9].encode()), (0.2, KEY[9:].encode())]),
        recording(path=f"/{KEY}", headers={"X-A": KEY}),
    ],
)
def test_a_key_that_is_known(made: Any) -> None:
    """S05, S06."""
    assert CANARY not in text(made)
    assert b"[redacted]" in text(made)


@pytest.mark.parametrize("key", ["sk-abcdefgh12345678", "hf_" + "a" * 24, "AIza" + "b" * 20])
def test_what_looks_like_a_key(key: str) -> None:
    """S06."""
    assert key.encode() not in text(recording({"model": "m", "input": f'"{key}"'}))


def test_by_chance_a_token_has_what_looks_like_a_key() -> None:
    """With a mask in it the exchange could not be replayed: the proxy would know its own token no more."""
    token = "v1.Zm9vYmFyYmF6cXV4Zm9v-sk-YmFyYmF6cXV4Zm9vYmFy"
    assert token.encode() in text(recording({"model": "m", "call_ids": token}))


def contents(made: Recording) -> str:
    return "".join(
        event["choices"][0]["delta"].get("content", "")
        for event in events_of(data for _, data in made.attempts[0].reads)
        if isinstance(event, dict)
    )


@pytest.mark.parametrize("key", [KEY, "sk-abcdefgh12345678"])
def test_a_key_that_is_spelled_out_over_many_pieces_is_covered(key: str) -> None:
    """S06. The replay is as it was: nothing has another length."""
    pieces = [chunk({"content": letter}) for letter in f"It is {key}."]
    said = as_it_is(recording(attempts=[attempt(*pieces, STOP, DONE)]))
    made = without_keys(said, KEYS)
    assert not made.cut
    assert contents(made) == f"It is {'x' * len(key)}."
    assert key.encode() not in written(made)
    assert differences(made, replay(made)) == []


def test_by_turns_in_two_calls_it_is_found_too() -> None:
    """S06."""
    pieces = [
        call_chunk(index, None, None, letter) for letter in KEY for index in (0, 1) if letter not in '"\\'
    ]
    made = without_keys(recording(attempts=[attempt(*pieces)]), KEYS)
    told = [data for _, data in made.attempts[0].reads]
    assert len(told) == 2 * len(KEY)
    assert all(b'"x"' in data for data in told) or made.cut


def test_where_it_cannot_be_covered_nothing_that_was_said_is_kept() -> None:
    """S06."""
    odd = 'a"b\\c"d\\e"f"g\\h"i"j'
    spelled = attempt(*(chunk({"content": letter}) for letter in odd))
    asked = recording({"model": "m", "input": "What is it?"}, [spelled], end={"answer": b"{}"})
    made = without_keys(asked, Keys(Secrets([odd])))
    assert made.cut
    assert (made.request.body, made.end.answer, made.attempts[0].reads) == (None, None, [])
    assert not without_keys(recording(attempts=[attempt(*HELLO)]), KEYS).cut


def test_what_stands_before_and_behind_stays_byte_for_byte() -> None:
    reads = [b"\xff a correct-hor", b"se-battery-staple", b" b \xfe"]
    (made,) = without_keys(recording(attempts=[attempt(*reads)]), KEYS).attempts
    assert [data for _, data in made.reads] == [b"\xff a [redacted]", b"", b" b \xfe"]
    plain = without_keys(recording(attempts=[attempt(b"\xff")]), KEYS)
    assert plain.attempts[0].reads[0][1] == b"\xff"


def test_json_stays_json() -> None:
    odd = 'a"b\\c"d\\"e"f"g\\h"i"j'
    keys = Keys(Secrets([odd]))
    for piece in (odd, odd[:14], odd[3:16], "\\" + odd, odd + "\\"):
        body = {"model": "m", "input": f"x {piece} y"}
        masked = without_keys(recording(body), keys).request.body
        assert masked is not None
        jsontext.strict(masked)
