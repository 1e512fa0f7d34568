"""What processes tell each other of calls comes back as it was, or as nothing."""

from proxy.core.model import Reasoning
from proxy.core.surfaces.memory.memos import (
    CALL_ID,
    MAX_DEPTH,
    THOUGHTS,
    CallId,
    Thoughts,
    memo_key,
    packed_id,
    packed_thoughts,
    read_id,
    read_thoughts,
)
from tests.support.tables import table

SIGNED = Reasoning("Hm.", {"anthropic": {"blocks": [{"model": "m", "block": {"type": "thinking"}}]}})


def test_names_of_memos_are_short_and_their_own() -> None:
    keys = {
        memo_key(kind, *names) for kind in (THOUGHTS, CALL_ID) for names in (("a", "b"), ("ab",), ("b", "a"))
    }
    assert len(keys) == 6
    assert {len(key) for key in keys} == {len(memo_key(CALL_ID, "x" * 10_000, "\ud800"))}


@table("call", [CallId("call_1", "theirs"), CallId("call_2", "")])
def test_ids_come_back(call: CallId) -> None:
    assert read_id(packed_id(call)) == call


@table(
    "thoughts",
    [
        Thoughts([SIGNED], [Reasoning("Then."), SIGNED], "theirs"),
        Thoughts([], [Reasoning("")], None),
        Thoughts([], [], None),
    ],
)
def test_thoughts_come_back(thoughts: Thoughts) -> None:
    assert read_thoughts(packed_thoughts(thoughts)) == thoughts


@table(
    "memo",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'["a"]',
        b'["a",1]',
        b"[[],[],1]",
        b'[[["a"]],[],null]',
        b'[[],[["a",[]]],null]',
        b'[[],["a"],null]',
        b'[[["a",{"x":{"proofs":[1]}}]],[],null]',
        b'[[["a",{"x":{"y":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}}]],[],null]",
    ],
)
def test_a_damaged_memo_is_none(memo: bytes) -> None:
    assert read_id(memo) is None
    assert read_thoughts(memo) is None
