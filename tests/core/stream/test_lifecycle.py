"""What may follow what is said once, in two tables; everything else is a bug of ours and raises."""

from itertools import product

import pytest

from proxy.core.events import (
    Ending,
    Event,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.model import Text
from proxy.core.stream.lifecycle import (
    CALL_MOVES,
    REPLY_MOVES,
    BrokenOrder,
    CallPhase,
    ReplyPhase,
    after,
    diagram,
)
from tests.support.tables import table

STARTED = PartStarted(PartKind.TEXT)
PART_ENDED, ENDED = PartEnded(Text("Hi"), complete=True), ReplyEnded(Ending.COMPLETED)
EVENTS: list[Event] = [ReplyStarted(), STARTED, PART_ENDED, ENDED]


def test_a_reply_goes_from_new_through_its_parts_to_its_end() -> None:
    phase = ReplyPhase.NEW
    phases = [phase := after(phase, event) for event in (ReplyStarted(), STARTED, PART_ENDED, ENDED)]
    assert phases == [
        ReplyPhase.BETWEEN,
        ReplyPhase.IN_PART,
        ReplyPhase.BETWEEN,
        ReplyPhase.ENDED,
    ]


@table(
    ("phase", "event"),
    [
        pytest.param(phase, event, id=f"{type(event).__name__}-{phase.name}")
        for phase, event in product(ReplyPhase, EVENTS)
        if (phase, type(event)) not in REPLY_MOVES
    ],
)
def test_a_move_that_is_not_in_the_table_is_our_bug(phase: ReplyPhase, event: Event) -> None:
    with pytest.raises(BrokenOrder, match=f"{type(event).__name__} while the reply is {phase.value}"):
        after(phase, event)


def test_an_event_has_one_place_in_a_reply() -> None:
    """No event is legal in two phases: which one arrives says where the reply stands."""
    events = [event for _, event in REPLY_MOVES]
    assert len(set(events)) == len(events) == len(EVENTS)


def test_what_has_ended_stays_ended() -> None:
    assert not [phase for phase, _ in REPLY_MOVES if phase is ReplyPhase.ENDED]
    assert not CALL_MOVES[CallPhase.ENDED] | CALL_MOVES[CallPhase.DROPPED]


def test_every_phase_can_be_reached() -> None:
    assert {ReplyPhase.NEW, *REPLY_MOVES.values()} == set(ReplyPhase)
    assert {CallPhase.WAITING}.union(*CALL_MOVES.values()) == set(CallPhase) == set(CALL_MOVES)


def test_a_call_ends_only_after_it_was_open() -> None:
    """ "Ended but never added" cannot be written down."""
    assert [phase for phase, moves in CALL_MOVES.items() if CallPhase.ENDED in moves] == [CallPhase.OPEN]


def test_the_diagram_shows_every_move_of_both_tables() -> None:
    lines = [line.strip() for line in diagram().splitlines()]
    assert lines[0] == "stateDiagram-v2"
    for (start, event), end in REPLY_MOVES.items():
        assert f"{start.name} --> {end.name}: {event.__name__}" in lines
    for phase, moves in CALL_MOVES.items():
        for end in moves:
            assert f"{phase.name}_CALL --> {end.name}_CALL" in lines
    assert sum("-->" in line for line in lines) == len(REPLY_MOVES) + sum(map(len, CALL_MOVES.values()))


def test_the_diagram_is_the_same_each_time() -> None:
    """A README generated from sets must not change from run to run."""
    arrows = [line.strip() for line in diagram().splitlines() if line.strip().startswith("WAITING_CALL")]
    order = [f"WAITING_CALL --> {phase.name}_CALL" for phase in CallPhase]
    assert arrows == [arrow for arrow in order if arrow in arrows]
