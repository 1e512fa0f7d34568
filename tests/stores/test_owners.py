"""Who works on what in every engine: one end for each response, whoever brings it, and the dead are found out."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.stored import endings
from proxy.core.stored.record import FINAL, Record, Status
from proxy.shell.stores.protocol import Began, Key, Outcome
from tests.support.stores import MINT, Terms, ids_of, item, run


async def begun(records: Any, worker: str = "w", started: bool = True) -> Record:
    made = run(streamed=True)
    assert await records.begin("t", made, worker) == Began(())
    if started:
        assert await records.start("t", made.id, worker, b'{"a": 1}') is Outcome.DONE
        return replace(made, status=Status.IN_PROGRESS, answer=b'{"a": 1}')
    return made


def ended(work: Record, status: Status = Status.COMPLETED, text: bytes = b"[]") -> Record:
    return replace(work, status=status, answer=b'{"end": 1}', output=text)


async def test_a_run_from_begin_to_end(records: Any) -> None:
    """T43, T44; each step may be repeated."""
    made = await begun(records, started=False)
    assert await records.begin("t", made, "w") == Began(())
    assert await records.get("t", made.id) == made
    assert await records.runs("w") == [Key("t", made.id)]
    assert await records.delete("t", made.id) is False
    for _ in range(2):
        assert await records.start("t", made.id, "w", b"{}") is Outcome.DONE
        assert (await records.get("t", made.id)).status is Status.IN_PROGRESS
    said = item(MINT.items_of(made.id).output("msg", 0))
    done = ended(made, text=jsontext.dumps([said]))
    for _ in range(2):
        assert await records.finish("t", done, "w") is Outcome.DONE
        assert await records.get("t", made.id) == done
    assert await records.runs("w") == await records.cancelled("w") == []
    assert set(await records.items("t", ids_of(done))) == set(ids_of(done))


async def test_an_end_may_say_that_the_events_are_not_kept(records: Any) -> None:
    """U24: then nobody follows a part of them."""
    made = await begun(records)
    done = replace(ended(made), streamed=None)
    for _ in range(2):
        assert await records.finish("t", done, "w") is Outcome.DONE
        assert await records.get("t", made.id) == done


@pytest.mark.parametrize("status", sorted(FINAL))
async def test_what_has_ended_stays_as_it_is(records: Any, status: Status) -> None:
    """T52, U31, U32: every step that is too late leaves the record as it was."""
    made = await begun(records)
    done = ended(made, status)
    assert await records.finish("t", done, "w") is Outcome.DONE
    assert await records.begin("t", made, "w") == Began(())
    assert await records.start("t", made.id, "w", b"{}") is Outcome.LOST
    assert await records.finish("t", ended(made, status, b'[{"id": "late"}]'), "w") is Outcome.LOST
    assert await records.cancel("t", ended(made, Status.CANCELLED, b'[{"id": "late"}]')) == done
    assert await records.save("t", made) is Outcome.DONE
    assert await records.get("t", made.id) == done
    assert await records.items("t", ["late"]) == {}


@pytest.mark.parametrize("started", [False, True])
async def test_whoever_cancels_first_ends_it(records: Any, started: bool) -> None:
    """T50, T51, U30, U33: its owner is told until it says that it heard; nothing comes back after a deletion."""
    made = await begun(records, started=started)
    gone = ended(made, Status.CANCELLED)
    assert await records.cancel("t", gone) == gone
    assert await records.cancel("t", ended(made, Status.CANCELLED, b'[{"id": "x"}]')) == gone
    for _ in range(2):
        assert await records.cancelled("w") == [Key("t", made.id)]
        assert await records.runs("w") == await records.cancelled("v") == []
    assert await records.delete("t", made.id) is True
    assert await records.cancelled("w") == [Key("t", made.id)]
    assert await records.start("t", made.id, "w", b"{}") is Outcome.LOST
    assert await records.finish("t", ended(made), "w") is Outcome.LOST
    assert await records.get("t", made.id) is None
    assert await records.cancelled("w") == []


async def test_only_its_own_worker_works_on_it(records: Any) -> None:
    made = await begun(records)
    assert await records.start("t", made.id, "v", b"{}") is Outcome.LOST
    assert await records.finish("t", ended(made), "v") is Outcome.LOST
    assert await records.finish("t", ended(run()), "w") is Outcome.LOST
    assert await records.get("t", made.id) == made
    assert await records.finish("t", ended(made), "w") is Outcome.DONE


async def test_a_hundred_ends_at_once_are_one(records: Any) -> None:
    """U31, T92: the winner's, for every reader and for ever."""
    made = await begun(records)
    ends = [ended(made, Status.COMPLETED, b'[{"id": "%d"}]' % n) for n in range(50)]
    cancels = [ended(made, Status.CANCELLED, b'[{"id": "%d"}]' % n) for n in range(50)]
    calls = [
        call
        for end, cancelled in zip(ends, cancels, strict=True)
        for call in (records.finish("t", end, "w"), records.cancel("t", cancelled))
    ]
    answers = await asyncio.gather(*calls)
    winner = await records.get("t", made.id)
    assert [await records.get("t", made.id) for _ in range(4)] == [winner] * 4
    finished = [end for end, answer in zip(ends, answers[::2], strict=True) if answer is Outcome.DONE]
    assert finished == ([winner] if winner.status is Status.COMPLETED else [])
    assert {answer.output for answer in answers[1::2]} <= {winner.output}


async def test_the_dead_are_settled_by_who_looks(records: Any, terms: Terms) -> None:
    """U26, U32, T56: 45 s after the last beat. The sweeper finds those at whom nobody looks."""
    made = [await begun(records, started=started) for started in (True, False, True, True)]
    terms.steady += 30
    assert await records.beat("w") == 1
    terms.steady += 44
    assert await records.settle(50) == []
    assert await records.get("t", made[0].id) == made[0]
    terms.steady += 1
    failed = [endings.orphaned(each) for each in made]
    assert await records.get("t", made[0].id) == failed[0]
    assert await records.cancel("t", ended(made[1], Status.CANCELLED)) == failed[1]
    assert await records.delete("t", made[2].id) is True
    assert await records.settle(50) == [Key("t", made[3].id)]
    assert await records.settle(50) == []
    assert await records.get("t", made[3].id) == failed[3]
    assert await records.finish("t", ended(made[0]), "w") is Outcome.LOST, "U28, U66"
    assert await records.get("t", made[0].id) == failed[0]


async def test_who_comes_back_in_time_goes_on(records: Any, terms: Terms) -> None:
    """U27, U29: an owner that nobody has settled may finish, however late; the patient bury nobody."""
    made = await begun(records)
    terms.steady += 400
    terms.patient = True
    assert await records.get("t", made.id) == made
    assert await records.settle(50) == []
    assert await records.cancel("v", made) is None
    await records.beat("w")
    terms.patient = False
    assert await records.settle(50) == []
    terms.steady += 400
    assert await records.finish("t", ended(made), "w") is Outcome.DONE


async def test_no_clock_buries_anybody(records: Any, terms: Terms) -> None:
    """T100, U54: the date jumps. A steady clock that begins anew means that the machine did, and all are dead."""
    made = await begun(records)
    for jump in (86_400 * 365, -86_400 * 365 * 2):
        terms.date += jump
        assert await records.settle(50) == []
        assert await records.get("t", made.id) == made
    terms.steady = 3.0
    assert await records.settle(50) == [Key("t", made.id)]


async def test_the_living_are_counted(records: Any, terms: Terms) -> None:
    assert await records.beat("a") == 1
    terms.steady += 20
    assert await records.beat("b") == 2
    terms.steady += 25
    assert await records.beat("b") == 1
    await records.leave("b")
    assert await records.beat("a") == 1
    for worker in ("c", "d"):
        await begun(records, worker)
    assert await records.beat("a") == 3, "who begins something lives"


async def test_whose_time_is_a_little_ahead_is_not_dead(records: Any, terms: Terms) -> None:
    """U29, U54: processes only estimate what time a server has, and a little is not a restart of the machine."""
    terms.steady += 2
    made = await begun(records)
    assert await records.beat("w") == 1
    terms.steady -= 2
    assert await records.beat("v") == 2
    assert await records.settle(50) == []
    assert await records.get("t", made.id) == made


async def test_who_leaves_in_order_is_told_nothing_more(records: Any) -> None:
    made = await begun(records)
    await records.cancel("t", ended(made, Status.CANCELLED))
    await records.leave("w")
    assert await records.cancelled("w") == []


async def test_a_settling_takes_no_more_than_it_may(records: Any, terms: Terms) -> None:
    made = [await begun(records) for _ in range(5)]
    terms.steady += 45
    first = await records.settle(3)
    rest = await records.settle(3)
    assert sorted([*first, *rest]) == sorted(Key("t", each.id) for each in made)
    assert len(first) == 3
    assert sum(await records.sweep(50)) == 0
    assert await records.cancelled("w") == [], "the dead are told nothing any more"
