"""What is said of memory over time, and of files that stay open."""

import os
from threading import Thread

import pytest

from tests.load.process import cpu_seconds, memory_mib, open_files, waited_seconds
from tests.load.watching import Watch, growth, leaked_files


@pytest.mark.parametrize(
    ("memory", "expected"),
    [([50.0] * 20, 0.0), ([50.0 + at for at in range(20)], 19.0), ([50.0, 51.0] * 10, 0.14)],
)
def test_growth_is_that_of_the_straight_line(memory: list[float], expected: float) -> None:
    assert growth(list(enumerate(memory))) == pytest.approx(expected, abs=0.01)


def test_the_warm_up_is_no_growth() -> None:
    """The first half, in which caches fill."""
    watch = Watch(0, memory=[(at, min(at, 10) + 50.0) for at in range(21)])
    assert watch.growth == 0.0
    assert watch.peak == 60.0


async def test_files_that_were_open_before_are_none_that_leaked() -> None:
    before = open_files(os.getpid())
    assert await leaked_files(os.getpid(), before) == 0


def test_a_process_has_its_cost() -> None:
    before = cpu_seconds(os.getpid())
    sum(range(1_000_000))
    assert cpu_seconds(os.getpid()) > before
    assert memory_mib(os.getpid()) > 1
    assert waited_seconds(os.getpid()) > 0


def test_the_work_of_threads_that_have_ended_is_not_forgotten() -> None:
    before = cpu_seconds(os.getpid())
    thread = Thread(target=lambda: sum(range(3_000_000)))
    thread.start()
    thread.join()
    assert cpu_seconds(os.getpid()) - before > 0.005
