"""What one process of the proxy remembers, in the form in which it tells the others: memos, each about one call.

A client's next request may reach another process. Whoever does not know a call looks for its memo, which may be lost at
any time: the call is then one that was forgotten.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from proxy.core import jsontext
from proxy.core.extras import are_extras
from proxy.core.model import Reasoning

THOUGHTS, CALL_ID = "thoughts", "call_id"
"""What memos are about."""

MAX_DEPTH = 128
"""Levels of nesting, as in a token."""


def memo_key(kind: str, *names: str) -> str:
    """The name of a memo: as long for any names, and none of them can be read in it."""
    text = "\0".join((kind, *names))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class CallId(NamedTuple):
    """The two ids of a call (N03)."""

    ours: str
    backends: str


def packed_id(call: CallId) -> bytes:
    return jsontext.dumps(list(call))


def read_id(memo: bytes) -> CallId | None:
    match _read(memo):
        case [str(ours), str(backends)]:
            return CallId(ours, backends)
        case _:
            return None


class Thoughts(NamedTuple):
    """What a model thought before a call."""

    lead: Sequence[Reasoning]
    """Before the text that it wrote before its first call; chat clients send that text again."""
    thoughts: Sequence[Reasoning]
    """Right before the call."""
    backend_id: str | None
    """The backend's id of the call, which objects in the thoughts may refer to."""


NO_THOUGHTS = Thoughts((), (), None)


def packed_thoughts(kept: Thoughts) -> bytes:
    lists = ([[each.text, each.extras] for each in some] for some in (kept.lead, kept.thoughts))
    return jsontext.dumps([*lists, kept.backend_id])


def read_thoughts(memo: bytes) -> Thoughts | None:
    match _read(memo):
        case [list(lead), list(thoughts), str() | None as backend_id]:
            pass
        case _:
            return None
    if not all(map(_is_thought, (*lead, *thoughts))):
        return None
    return Thoughts([Reasoning(*each) for each in lead], [Reasoning(*each) for each in thoughts], backend_id)


def _read(memo: bytes) -> Any:
    """None for what is damaged."""
    try:
        held = jsontext.strict(memo)
    except ValueError:
        return None
    return None if jsontext.deeper_than(held, MAX_DEPTH) else held


def _is_thought(value: Any) -> bool:
    match value:
        case [str(), extras]:
            return are_extras(extras)
        case _:
            return False
