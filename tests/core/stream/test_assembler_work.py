"""E7, F32: what a hostile backend can cost the assembler. Its steps are counted, and grow no faster than the reply."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from proxy.core.errors import Garbled
from proxy.core.events import (
    Delta,
    EndDelta,
    ReasoningDelta,
    TextDelta,
)
from proxy.core.model import Call
from proxy.core.stream.assembler import MAX_CALLS
from tests.support.assembling import (
    STOP,
    assemble,
    says,
)
from tests.support.tables import table

END = EndDelta()


# ── E7, F32: what a hostile backend can cost ──


def work(deltas: list[Delta]) -> int:
    """Python functions entered, each parse counted once more for every character: what no machine's load can change."""
    spent = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal spent
        if event == "call":
            spent += 1
            if frame.f_code.co_name == "is_object":
                spent += len(frame.f_locals["text"])

    sys.setprofile(count)
    try:
        assemble(*deltas, STOP, END, close=False)
    finally:
        sys.setprofile(None)
    return spent


@table(
    "deltas",
    [
        pytest.param(lambda n: [TextDelta("x")] * n, id="text"),
        pytest.param(lambda n: [says(0, "a", "get_time"), *[says(0, arguments="x")] * n], id="arguments"),
        pytest.param(
            lambda n: [says(0, "a", "get_time", "{"), *[TextDelta("x"), ReasoningDelta("y")] * n],
            id="held prose",
        ),
        pytest.param(
            lambda n: [
                says(0, "a", "get_time", "{"),
                *[TextDelta("x"), ReasoningDelta("y")] * n,
                says(1, "b", "get_time"),
                *[says(1, arguments="x")] * n,
            ],
            id="arguments behind held prose",
        ),
        pytest.param(
            lambda n: [says(0, "a", "get_time", '{"x":"'), TextDelta("x"), *[says(0, arguments="}")] * n],
            id="arguments that seem whole at each fragment",
        ),
        pytest.param(
            lambda n: [says(0, "a", "get_time", "{}{"), TextDelta("x"), *[says(0, arguments="{}")] * n],
            id="objects that repeat",
        ),
        pytest.param(
            lambda n: [
                says(0, "a", "get_time", "{"),
                *(
                    delta
                    for i in range(1, n)
                    for delta in (TextDelta("x"), says(i, f"c{i}", "get_time", "{"))
                ),
            ],
            id="calls behind held prose",
        ),
    ],
)
def test_twice_as_much_costs_twice_as_much(deltas: Callable[[int], list[Delta]]) -> None:
    assert work(deltas(200)) < 2.5 * work(deltas(100))


def test_r7_a_reply_of_endless_calls_fails() -> None:
    """Each call costs memory until the reply ends, and a hostile backend knows no end."""
    calls = [says(index, f"c{index}", "get_time", "{}") for index in range(MAX_CALLS + 1)]
    reply = assemble(*calls, STOP, END)
    assert len(reply.parts) == MAX_CALLS
    assert reply.ended is not None
    assert isinstance(reply.ended.fault, Garbled)


def test_r7_a_name_that_does_not_end_is_taken_as_it_is() -> None:
    reply = assemble(*[says(0, "a" if not at else None, f"{at:09d}") for at in range(8)], STOP, END)
    (ended,) = reply.parts
    assert isinstance(ended.part, Call)
    assert len(ended.part.tool.name) == 72
