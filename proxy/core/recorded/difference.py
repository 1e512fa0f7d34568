"""What is not as it was recorded."""

from collections.abc import Iterable, Sequence
from difflib import unified_diff
from itertools import islice
from pprint import pformat
from typing import Any

from proxy.core import jsontext
from proxy.core.recorded.faults import fault_of
from proxy.core.recorded.outline import outline
from proxy.core.recorded.recording import Recording
from proxy.core.recorded.replay import LEFT, Replayed
from proxy.core.recorded.trusting import without_proofs
from proxy.core.surfaces.errors import error_body

MOST_LINES = 20_000
"""Of each side. A difference of longer ones takes too long to find."""


def differences(recording: Recording, replayed: Replayed, *, cut: bool = False) -> list[str]:
    """Lines that say it, none if the events are identical. `cut`: the bytes were cut otherwise, so that only what the
    pieces come to is compared."""
    before, after = (b for _, b in recording.frames), replayed.frames
    was, now = [without_proofs(frame) for frame in before], [without_proofs(frame) for frame in after]
    found: list[str] = []
    if recording.content == "masked":
        found = _diff(map(shape, outline(was)), map(shape, outline(now)))
        found += _diff([shape(_answer(recording))], [shape(_plain(replayed.answer))])
        return found + _statuses(recording, replayed)
    if recording.end.status == LEFT:  # what was made after that, nobody has seen
        was, now = was[: len(now)], now[: len(was)]
    loosely = cut or recording.covered
    if b"".join(was) != b"".join(now) and not (loosely and outline(was) == outline(now)):
        found += _diff(outline(was), outline(now)) or ["The frames differ in how text is cut."]
    found += _diff([_answer(recording)], [_plain(replayed.answer)])
    return found + _statuses(recording, replayed)


def differences_of_posts(was: Sequence[bytes], now: Sequence[bytes]) -> list[str]:
    """Lines that say in what backends are asked otherwise."""
    return _diff(map(jsontext.loads, was), map(jsontext.loads, now))


def _statuses(recording: Recording, replayed: Replayed) -> list[str]:
    was, now = recording.end.status, replayed.status
    return [] if was in (now, LEFT) else [f"The status was {was}, and is {now} now."]


def shape(value: Any, member: str = "") -> Any:
    """What of an event stays the same where every word in it is another one: how long its texts are."""
    match value:
        case dict():
            return {name: shape(inner, name) for name, inner in value.items()}
        case list():
            return [shape(inner, member) for inner in value]
        case str() if member in ("encrypted_content", "call_ids"):
            return "packed"
        case str() if member not in ("type", "status", "role"):
            return len(value)
        case _:
            return value


def _answer(recording: Recording) -> Any:
    """The whole answer, or the body of a refusal."""
    end = recording.end
    if end.answer is not None:
        return jsontext.loads(without_proofs(end.answer))
    if end.status == LEFT or end.fault is None or end.status == 200:
        return None
    return error_body(fault_of(end.fault))


def _plain(answer: Any) -> Any:
    """As it is after it was sent."""
    return None if answer is None else jsontext.loads(without_proofs(jsontext.dumps(answer)))


def _diff(was: Iterable[Any], now: Iterable[Any]) -> list[str]:
    before, after = list(was), list(now)
    if repr(before) == repr(after):  # to lay them out takes twenty times as long
        return []
    return list(unified_diff(_lines(before), _lines(after), "recorded", "now", lineterm="", n=2))


def _lines(events: list[Any]) -> list[str]:
    lines = (line for event in events for line in pformat(event, width=110, sort_dicts=False).splitlines())
    return list(islice(lines, MOST_LINES))
