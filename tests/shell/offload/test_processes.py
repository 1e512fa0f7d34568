"""Checks in a process that is really ended, and nothing left of it (attack-02)."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proxy.core.argument_problem import UNCHECKED
from proxy.core.model import ToolName, ToolSpec
from proxy.core.policy.awaited_checks import PendingCheck
from proxy.shell.offload import processes as module
from proxy.shell.offload.processes import MAX_BYTES, CheckProcesses, Lost

PROMPTLY = 20.0
ENDLESS = "^((((a*){2}){2}){2}){2}$"


def question(pattern: str, text: str) -> PendingCheck:
    parameters = {"type": "object", "properties": {"x": {"pattern": pattern}}}
    return PendingCheck(ToolSpec(ToolName("f"), parameters=parameters), f'{{"x":"{text}"}}')


GOOD, BAD = question("^(ab)+$", "abab"), question("^(ab)+$", "aba")
LONG = question(ENDLESS, "a" * 40 + "!")


@pytest.fixture
async def checks(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[CheckProcesses]:
    monkeypatch.setattr(module, "CHECK_SECONDS", 0.5)
    made = CheckProcesses()
    async with asyncio.timeout(PROMPTLY):
        yield made
        await made.close()


def children(checks: CheckProcesses) -> set[int]:
    return {child.pid for child in checks._children}


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_nothing_is_started_before_there_is_a_question(checks: CheckProcesses) -> None:
    assert not children(checks)


async def test_one_process_answers_one_question_after_the_other(checks: CheckProcesses) -> None:
    assert await checks.verdict(GOOD) is None
    (pid,) = children(checks)
    problem = await checks.verdict(BAD)
    assert problem is not None
    assert (problem.code, problem.path) == ("invalid_tool_arguments", ".x")
    assert children(checks) == {pid}


async def test_a_check_without_end_is_ended_with_its_process_and_the_next_one_has_another(
    checks: CheckProcesses,
) -> None:
    await checks.verdict(GOOD)
    (first,) = children(checks)
    with pytest.raises(Lost):
        await checks.verdict(LONG)
    assert not lives(first)
    assert await checks.verdict(GOOD) is None
    assert first not in children(checks)


async def test_one_long_check_does_not_hold_up_another(checks: CheckProcesses) -> None:
    both = await asyncio.gather(checks.verdict(LONG), checks.verdict(GOOD), return_exceptions=True)
    assert isinstance(both[0], Lost)
    assert both[1] is None


async def test_one_with_many_checks_keeps_nobody_else_waiting(checks: CheckProcesses) -> None:
    """Else the checks of whoever comes behind them would be given up."""
    done: list[str] = []

    async def checked(owner: str) -> None:
        await checks.verdict(GOOD, owner)
        done.append(owner)

    await asyncio.gather(*(checked("many") for _ in range(20)), checked("one"))
    assert done.index("one") < 10


async def test_whoever_does_not_wait_any_longer_leaves_no_answer_for_the_next(checks: CheckProcesses) -> None:
    await checks.verdict(GOOD)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await checks.verdict(LONG)
    assert not children(checks)
    assert (await checks.verdict(BAD)) is not None


async def test_after_closing_no_process_is_left() -> None:
    checks = CheckProcesses()
    await asyncio.gather(checks.verdict(GOOD), checks.verdict(GOOD))
    pids = children(checks)
    assert pids
    await checks.close()
    assert not any(map(lives, pids))


async def test_a_process_ends_by_its_own_alarm_though_nobody_asks_it_to() -> None:
    """Its parent may have been killed while a pattern holds it."""
    checks = CheckProcesses()
    child = await checks._started()
    schema, said = b'{"properties":{"x":{"pattern":"^(a+)+$"}}}', b'{"x":"' + b"a" * 60 + b'!"}'
    assert child.stdin is not None
    child.stdin.write(module.QUESTION.pack(0.05, len(schema), len(said)) + schema + said)
    async with asyncio.timeout(PROMPTLY):
        assert await child.wait() < 0
    await checks.close()


async def test_a_process_ends_when_its_parent_does() -> None:
    checks = CheckProcesses()
    child = await checks._started()
    assert child.stdin is not None
    child.stdin.close()
    async with asyncio.timeout(PROMPTLY):
        assert await child.wait() == 0
    await checks.close()


@pytest.mark.parametrize("command", ["exit()", "import time; input(); input()"])
async def test_a_process_that_cannot_answer_is_given_up(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COMMAND", (sys.executable, "-c", command))
    monkeypatch.setattr(module, "STARTING_SECONDS", 0.2)
    checks = CheckProcesses()
    with pytest.raises((Lost, TimeoutError)):
        await checks.verdict(GOOD)
    assert not children(checks)


async def test_what_cannot_be_started_is_no_failure_of_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "COMMAND", (str(tmp_path / "nothing"),))
    with pytest.raises(OSError, match="nothing"):
        await CheckProcesses().verdict(GOOD)


async def test_arguments_of_megabytes_are_not_even_sent(checks: CheckProcesses) -> None:
    with pytest.raises(Lost):
        await checks.verdict(question("^(a)+$", "a" * MAX_BYTES))
    assert not children(checks)


async def test_what_fills_the_memory_is_unchecked(
    checks: CheckProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHECK_SECONDS", 5.0)  # a loaded machine takes long to fill it
    made = await checks.verdict(question("^(?:(a)|b)*$", "ab" * (MAX_BYTES // 4)))
    assert made in (None, UNCHECKED)
