"""The order of turns that every decoder promises."""

from itertools import pairwise

from proxy.core.model import Call, Result, Role, Turn


def assert_canonical(turns: list[Turn]) -> None:
    """Every call has exactly one result, in the turn right after, in call order; no two replies in a row."""
    call_ids: list[str] = []
    for turn, after in pairwise([*turns, None]):
        assert turn is not None
        assert turn.parts
        calls = [part.call_id for part in turn.parts if isinstance(part, Call)]
        call_ids += calls
        if turn.role is Role.ASSISTANT:
            assert after is None or after.role is not Role.ASSISTANT
            assert (after is not None and after.role is Role.TOOL) == bool(calls)
        if calls:
            assert after is not None
            assert [part.call_id for part in after.parts if isinstance(part, Result)] == calls
    assert len(set(call_ids)) == len(call_ids)
    assert "" not in call_ids
    assert not turns or turns[0].role is not Role.TOOL
