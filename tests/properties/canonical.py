"""The order of turns that every decoder promises."""

from itertools import pairwise

from proxy.core.model import Call, Result, Role, Turn


def assert_canonical(turns: list[Turn]) -> None:
    """Every call has exactly one result, in the turn right after, in call order; no two replies in a row."""
    call_ids: list[str] = []
    for (role, parts), (next_role, next_parts) in pairwise([*turns, (None, [])]):
        assert parts
        calls = [part.call_id for part in parts if isinstance(part, Call)]
        call_ids += calls
        if role is Role.ASSISTANT:
            assert next_role is not Role.ASSISTANT
            assert (next_role is Role.TOOL) == bool(calls)
        if calls:
            assert [part.call_id for part in next_parts if isinstance(part, Result)] == calls
    assert len(set(call_ids)) == len(call_ids)
    assert "" not in call_ids
    assert not turns or turns[0][0] is not Role.TOOL
