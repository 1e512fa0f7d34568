"""Deltas as they would be in fewer pieces."""

from collections.abc import Iterable

from proxy.core.events import Delta, ReasoningDelta, TextDelta


def merged(deltas: Iterable[Delta]) -> list[Delta]:
    """With adjacent prose of one kind joined."""
    out: list[Delta] = []
    for delta in deltas:
        match out, delta:
            case ([*_, TextDelta() as last], TextDelta()) | (
                [*_, ReasoningDelta() as last],
                ReasoningDelta(),
            ):
                last.text += delta.text
            case _:
                out.append(delta)
    return out
