"""What may follow what, as two tables. The README's diagram is drawn from them, so that it always agrees with the code.

The assembler checks every event against these tables. A step that is not in them is a bug of ours and raises, because
no client should ever get events in another order than promised.
"""

from enum import StrEnum

from proxy.core.events import Event, PartEnded, PartStarted, ReplyEnded, ReplyStarted


class ReplyPhase(StrEnum):
    NEW = "new"
    BETWEEN = "between parts"
    IN_PART = "in a part"
    ENDED = "ended"


REPLY_MOVES: dict[tuple[ReplyPhase, type], ReplyPhase] = {
    (ReplyPhase.NEW, ReplyStarted): ReplyPhase.BETWEEN,
    (ReplyPhase.BETWEEN, PartStarted): ReplyPhase.IN_PART,
    (ReplyPhase.IN_PART, PartEnded): ReplyPhase.BETWEEN,
    (ReplyPhase.BETWEEN, ReplyEnded): ReplyPhase.ENDED,
}


class CallPhase(StrEnum):
    WAITING = "waiting for its name"
    QUEUED = "waiting for its turn"
    OPEN = "open"
    ENDED = "ended"
    DROPPED = "dropped"


CALL_MOVES: dict[CallPhase, frozenset[CallPhase]] = {
    CallPhase.WAITING: frozenset({CallPhase.QUEUED, CallPhase.OPEN, CallPhase.DROPPED}),
    CallPhase.QUEUED: frozenset({CallPhase.OPEN, CallPhase.DROPPED}),
    CallPhase.OPEN: frozenset({CallPhase.ENDED}),
    CallPhase.ENDED: frozenset(),
    CallPhase.DROPPED: frozenset(),
}

NEW, ENDED = ReplyPhase.NEW, ReplyPhase.ENDED
WAITING, OPEN = CallPhase.WAITING, CallPhase.OPEN
"""Needed with every reply, or every token: Python 3.11 takes a tenth of a microsecond to find a member."""


class BrokenOrder(AssertionError):
    """The assembler was about to emit an event out of order."""


class ReplyOver(Exception):
    """More came after the end of the reply: the decoder may stop."""


def after(phase: ReplyPhase, event: Event) -> ReplyPhase:
    try:
        return REPLY_MOVES[phase, type(event)]
    except KeyError:
        raise BrokenOrder(f"{type(event).__name__} while the reply is {phase.value}") from None


def diagram() -> str:
    """Draws both tables as one Mermaid state diagram."""
    lines = ["stateDiagram-v2", "    state Reply {"]
    lines += [
        f"        {start.name} --> {end.name}: {event.__name__}"
        for (start, event), end in REPLY_MOVES.items()
    ]
    lines += ["    }", "    state Call {"]
    for start, ends in CALL_MOVES.items():
        lines += [f"        {start.name}_CALL --> {end.name}_CALL" for end in CallPhase if end in ends]
    return "\n".join([*lines, "    }"])
