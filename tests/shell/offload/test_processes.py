"""Checks in a process that is really ended, and nothing left of it (attack-02)."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proxy.core.model import ToolName, ToolSpec
from proxy.core.policy.awaited_checks import PendingCheck
from proxy.core.tools.arguments import UNCHECKED
from proxy.shell.offload import processes as module
from proxy.shell.offload.processes import MAX_BYTES, Aside, Lost

PROMPTLY = 20.0
ENDLESS = "^((((a*){2}){2}){2}){2}$"


def question(pattern: str, text: str) -> PendingCheck:
    parameters = {"type": "object", "properties": {"x": {"pattern": pattern}}}
    return PendingCheck(ToolSpec(ToolName("f"), parameters=parameters), f'{{"x":"{text}"}}')


GOOD, BAD = question("^(ab)+$", "abab"), question("^(ab)+$", "aba")
LONG = question(ENDLESS, "a" * 40 + "!")


@pytest.fixture
async def aside(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Aside]:
    monkeypatch.setattr(module, "CHECK_SECONDS", 0.5)
    made = Aside()
    async with asyncio.timeout(PROMPTLY):
        yield made
        await made.close()


def children(aside: Aside) -> set[int]:
    return {child.pid for child in aside._children}


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_nothing_is_started_before_there_is_a_question(aside: Aside) -> None:
    assert not children(aside)


async def test_one_process_answers_one_question_after_the_other(aside: Aside) -> None:
    assert await aside.verdict(GOOD) is None
    (pid,) = children(aside)
    problem = await aside.verdict(BAD)
    assert problem is not None
    assert (problem.code, problem.path) == ("invalid_tool_arguments", ".x")
    assert children(aside) == {pid}


async def test_a_check_without_end_is_ended_with_its_process_and_the_next_one_has_another(
    aside: Aside,
) -> None:
    await aside.verdict(GOOD)
    (first,) = children(aside)
    with pytest.raises(Lost):
        await aside.verdict(LONG)
    assert not lives(first)
    assert await aside.verdict(GOOD) is None
    assert first not in children(aside)


async def test_one_long_check_does_not_hold_up_another(aside: Aside) -> None:
    both = await asyncio.gather(aside.verdict(LONG), aside.verdict(GOOD), return_exceptions=True)
    assert isinstance(both[0], Lost)
    assert both[1] is None


async def test_one_with_many_checks_keeps_nobody_else_waiting(aside: Aside) -> None:
    """Else the checks of whoever comes behind them would be given up."""
    done: list[str] = []

    async def checked(owner: str) -> None:
        await aside.verdict(GOOD, owner)
        done.append(owner)

    await asyncio.gather(*(checked("many") for _ in range(20)), checked("one"))
    assert done.index("one") < 10


async def test_whoever_does_not_wait_any_longer_leaves_no_answer_for_the_next(aside: Aside) -> None:
    await aside.verdict(GOOD)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await aside.verdict(LONG)
    assert not children(aside)
    assert (await aside.verdict(BAD)) is not None


async def test_after_closing_no_process_is_left() -> None:
    aside = Aside()
    await asyncio.gather(aside.verdict(GOOD), aside.verdict(GOOD))
    pids = children(aside)
    assert pids
    await aside.close()
    assert not any(map(lives, pids))


async def test_a_process_ends_by_its_own_alarm_though_nobody_asks_it_to() -> None:
    """Its parent may have been killed while a pattern holds it."""
    aside = Aside()
    child = await aside._started()
    schema, said = b'{"properties":{"x":{"pattern":"^(a+)+$"}}}', b'{"x":"' + b"a" * 60 + b'!"}'
    assert child.stdin is not None
    child.stdin.write(module.QUESTION.pack(0.05, len(schema), len(said)) + schema + said)
    async with asyncio.timeout(PROMPTLY):
        assert await child.wait() < 0
    await aside.close()


async def test_a_process_ends_when_its_parent_does() -> None:
    aside = Aside()
    child = await aside._started()
    assert child.stdin is not None
    child.stdin.close()
    async with asyncio.timeout(PROMPTLY):
        assert await child.wait() == 0
    await aside.close()


@pytest.mark.parametrize("command", ["exit()", "import time; input(); input()"])
async def test_a_process_that_cannot_answer_is_given_up(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COMMAND", (sys.executable, "-c", command))
    monkeypatch.setattr(module, "STARTING_SECONDS", 0.2)
    aside = Aside()
    with pytest.raises((Lost, TimeoutError)):
        await aside.verdict(GOOD)
    assert not children(aside)


async def test_what_cannot_be_started_is_no_failure_of_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "COMMAND", (str(tmp_path / "nothing"),))
    with pytest.raises(OSError, match="nothing"):
        await Aside().verdict(GOOD)


async def test_arguments_of_megabytes_are_not_even_sent(aside: Aside) -> None:
    with pytest.raises(Lost):
        await aside.verdict(question("^(a)+$", "a" * MAX_BYTES))
    assert not children(aside)


async def test_what_fills_the_memory_is_unchecked(aside: Aside) -> None:
    made = await aside.verdict(question("^(?:(a)|b)*$", "ab" * (MAX_BYTES // 4)))
    assert made in (None, UNCHECKED)
