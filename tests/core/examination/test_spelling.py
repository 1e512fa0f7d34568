from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.examination.spelling import Spelling, spelling_in


def stream(*deltas: Any, index: int = 0) -> bytes:
    chunks = [{"choices": [{"index": index, "delta": delta}]} for delta in deltas]
    return b"".join(b"data: " + jsontext.dumps(chunk) + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"


def call(index: Any = 0, **fields: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, **fields}]}


def test_fields_of_thoughts() -> None:
    found = spelling_in(stream({"reasoning": "a", "reasoning_content": ""}, {"reasoning_details": [{}]}))
    assert found.thoughts == {"reasoning", "reasoning_details"}
    assert found.thought_field == "reasoning_details"
    assert Spelling().thought_field is None


def test_a_whole_reply() -> None:
    body = jsontext.dumps({"choices": [{"message": {"reasoning_content": "Hm."}}]})
    assert spelling_in(b"  " + body).thought_field == "reasoning_content"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"data: nonsense\n\n",
        b"data: 1\n\n",
        b'{"choices": 1}',
        b'{"choices": [1]}',
        b'{"choices": [{"delta": 1}]}',
        b"data: " + b"x" * (17 << 20),
    ],
)
def test_what_is_no_reply_leaves_none(body: bytes) -> None:
    assert spelling_in(body) == Spelling()


def test_ids() -> None:
    named = {"function": {"name": "a"}}
    same = stream(call(id="1", **named), call(id="1"), call())
    assert not spelling_in(same).ids_change
    two_of_one_index = stream(call(id="1", **named), call(id="2", **named))
    assert not spelling_in(two_of_one_index).ids_change
    assert spelling_in(stream(call(id="1", **named), call(id="2"))).ids_change
    assert not spelling_in(stream(call(None, id="1"), call(None, id="2"))).ids_change


def test_proofs_and_other_choices() -> None:
    found = spelling_in(stream(call(extra_content={"a": 1})))
    assert (found.proofs, found.other_choices) == (True, False)
    assert spelling_in(stream(call(), index=1)).other_choices


def test_sums() -> None:
    spelling = Spelling()
    spelling.add(Spelling({"reasoning"}, proofs=True, other_choices=True, ids_change=True))
    spelling.add(Spelling())
    assert spelling == Spelling({"reasoning"}, proofs=True, other_choices=True, ids_change=True)
