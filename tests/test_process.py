"""What every process of ours needs around its work."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import weakref

import pytest

from proxy import process


def test_the_loop_is_the_fast_one() -> None:
    with asyncio.Runner(loop_factory=process.loop_factory()) as runner:
        assert type(runner.get_loop()).__module__ == "uvloop"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_the_first_request_to_stop_is_polite_the_second_hurries_the_third_is_obeyed_at_once(
    number: signal.Signals,
) -> None:
    stop, hurried = process.asked_to_stop(), asyncio.Event()
    stop.hurry = hurried.set
    os.kill(os.getpid(), number)
    async with asyncio.timeout(5):
        await stop.asked.wait()
        assert not hurried.is_set()
        os.kill(os.getpid(), number)
        await hurried.wait()
    unheard = {
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
        signal.SIGINT: signal.default_int_handler,
    }
    assert {each: signal.getsignal(each) for each in unheard} == unheard


def test_who_is_to_outlive_the_terminal_does_not_hear_that_it_is_closed() -> None:
    """As `nohup` has it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert process.signals_to_stop() == [signal.SIGTERM, signal.SIGINT]
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_collector_looks_less_often() -> None:
    before = gc.get_threshold()
    try:
        process.spare_the_collector()
        assert gc.get_threshold()[0] == process.YOUNG_OBJECTS > before[0]
        assert gc.get_freeze_count() > 0
    finally:
        gc.set_threshold(*before)


class Circle:
    def __init__(self) -> None:
        self.itself = self


def test_what_imports_leave_is_collected_and_what_they_make_is_looked_at_once() -> None:
    before = gc.get_threshold()
    try:
        with process.importing():
            left = weakref.ref(Circle())
            made = [[] for _ in range(before[0] + 1)]
            assert left() is None
            assert not any(each is made for each in gc.get_objects(generation=2))
        assert gc.get_threshold() == before
        assert not any(each is made for each in gc.get_objects())
    finally:
        gc.unfreeze()


LONG_WORK = """
import resource, sys
from proxy import process
from proxy.core import jsontext
from proxy.shell.offload.threads import LARGE_BYTES

def answer():
    return [b"x" * 57_000 for _ in range(20)]

body = jsontext.dumps({"input": ["x" * 900] * (LARGE_BYTES // 910)})

def request():
    return jsontext.loads(body)

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def of(work):
    work()
    before = faults()
    for _ in range(20):
        work()
    return faults() - before

work = globals()[sys.argv[1]]
usual = of(work)
process.keep_what_is_free()
print(usual, of(work))
"""


@pytest.mark.parametrize("work", ["answer", "request"])
def test_what_long_work_took_is_there_for_the_next(work: str) -> None:
    command = [sys.executable, "-c", LONG_WORK, work]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    usual, then = map(int, told.stdout.split())
    assert then < usual / 10, "pages that are taken anew"
