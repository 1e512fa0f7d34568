"""How much work a function does: instructions of Python, counted, and for what C hides, the processor's time.

Instructions are the same on every machine and in every run; what a single one of them does (to join, to copy, to search
a list or the rest of a text) they do not tell. So the second measure looks at texts that are long enough for such a
hidden loop to show: there four times the input may take ten times the time, and more than a blink, and only what does
so again and again has grown. A hidden loop that is harmless at that length is not seen.
"""

import gc
import math
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

A_FEW = 40
"""Instructions that come and go by themselves, with what Python's own modules remember."""

Make = Callable[[int], Callable[[], object]]
"""Of a size: what does the work. What is made before it is no part of it."""

BLINK = 0.02
ENOUGH = 0.002
"""Seconds. From here on a time can be compared."""
LARGEST = 1 << 16
TRIES = 8

MOST_HIDDEN_GROWTH = 10.0
"""Of the time, for four times the input: a loop within a loop takes sixteen times as long, but what a busy machine's
caches hold no more takes eight."""


def instructions(work: Callable[[], object], seen: set[str] | None = None) -> int:
    """`seen` gets the files of all functions that had a part in it."""
    files: set[str] = set() if seen is None else seen
    return _monitored(work, files) if sys.version_info >= (3, 12) else _traced(work, files)


def _traced(work: Callable[[], object], files: set[str]) -> int:
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            files.add(frame.f_code.co_filename)
        elif event == "opcode":
            count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


if sys.version_info >= (3, 12):  # where a function that was traced once is not counted a second time

    def _monitored(work: Callable[[], object], files: set[str]) -> int:
        count = 0
        monitoring, tool = sys.monitoring, sys.monitoring.PROFILER_ID
        events = monitoring.events

        def step(code: CodeType, offset: int) -> None:
            nonlocal count
            count += 1

        monitoring.use_tool_id(tool, "growth")
        monitoring.register_callback(tool, events.INSTRUCTION, step)
        monitoring.register_callback(tool, events.PY_START, lambda code, _: files.add(code.co_filename))
        monitoring.set_events(tool, events.INSTRUCTION | events.PY_START)
        try:
            work()
        finally:
            monitoring.set_events(tool, events.NO_EVENTS)
            monitoring.free_tool_id(tool)
        return count


def growth(make: Make, size: int, seen: set[str] | None = None) -> float:
    """How much more the second doubling of the input adds than the first: 2 is linear, 4 is the square."""
    make(size)()  # what is remembered is remembered by now
    with _undisturbed():
        counts = [instructions(make(times * size), seen) for times in (1, 2, 4)]
    more = counts[2] - counts[1]
    return 0.0 if more < A_FEW else more / max(1, counts[1] - counts[0])


def hidden_growth(make: Make) -> float:
    """How much longer four times the input takes; 0 where that is no time at all."""
    size = 32
    with _undisturbed():
        while (least := _seconds(make(size))) < ENOUGH and size < LARGEST:
            size *= 2
        found, seconds = 0.0, math.inf
        for _ in range(TRIES):
            seconds = min(seconds, _seconds(make(4 * size)))
            found = seconds / max(least, 1e-6) if seconds > BLINK else 0.0
            if found < MOST_HIDDEN_GROWTH:
                break
            least = max(least, _seconds(make(size)))
    return found


def _seconds(work: Callable[[], object]) -> float:
    before = time.thread_time()
    work()
    return time.thread_time() - before


@contextmanager
def _undisturbed() -> Any:
    """The collector's walks are not the reader's work, nor is what others have it call."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
