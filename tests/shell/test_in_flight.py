"""One request under way: one line about it."""

import errno
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from proxy.core.errors import OwnWords, Unreachable
from proxy.core.events import Ending, PartEnded, Reply, ReplyEnded
from proxy.core.model import Call, Text, ToolKind, ToolName, Usage
from proxy.core.stream.pipeline import Pipeline
from proxy.core.tenants import ANYBODY
from proxy.shell.in_flight import Caller, InFlight
from proxy.shell.ops.logs import make_log
from proxy.shell.ops.metrics import Metrics
from tests.support.clocks import Clock
from tests.support.proxies import LogLines
from tests.support.turn_stores import UNTOUCHED


@pytest.fixture
def log() -> LogLines:
    return LogLines()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make(log: LogLines, clock: Clock) -> Callable[[], InFlight]:
    channel: Any = SimpleNamespace(request_id="req_1", bytes_out=7)
    surface: Any = SimpleNamespace(name="responses")
    caller = Caller(ANYBODY, {}, "127.0.0.1")
    metrics = Metrics({}, ())
    return lambda: InFlight(
        caller, channel, surface, UNTOUCHED, clock, metrics, make_log("debug", "json", stream=log.stream)
    )


# ── the line ──


async def test_a_request_that_came_to_nothing(
    make: Callable[[], InFlight], log: LogLines, clock: Clock
) -> None:
    in_flight = make()
    clock.now += 0.25
    in_flight.close()
    line = log.request
    del line["timestamp"]
    assert line == {
        "level": "info",
        "event": "request",
        "request_id": "req_1",
        "tenant": "anybody",
        "status": 200,
        "ms_total": 250.0,
        "bytes_out": 7,
    }


async def test_only_the_first_time_counts(make: Callable[[], InFlight], log: LogLines, clock: Clock) -> None:
    """Also where a second attempt begins to speak."""
    in_flight, reply = make(), SimpleNamespace(begun=False)
    for begun in (False, True, False, True):
        clock.now += 0.001
        reply.begun = begun
        in_flight.heard(cast("Pipeline", reply))
    in_flight.close()
    assert (log.request["ms_first_byte"], log.request["ms_first_text"]) == (1.0, 2.0)


async def test_the_cause_of_a_fault_is_told_here_and_only_here(
    make: Callable[[], InFlight], log: LogLines
) -> None:
    in_flight = make()
    fault = Unreachable(OwnWords("No connection."))
    fault.__cause__ = OSError(errno.ECONNREFUSED, "what somebody said")
    in_flight.note_fault(fault)
    in_flight.close()
    line = log.request
    assert (line["code"], line["error"]) == ("upstream_unreachable", "No connection.")
    assert line["cause"] == "ConnectionRefusedError: ECONNREFUSED"


async def test_what_the_reply_came_to(make: Callable[[], InFlight], log: LogLines) -> None:
    in_flight = make()
    parts = [Text("Hi"), Call("call_1", ToolName("f"), ToolKind.FUNCTION, "{}")]
    ended = ReplyEnded(Ending.MAX_TOKENS, Usage(1, 2, 3, cached_tokens=4, reasoning_tokens=5))
    in_flight.reply = Reply([PartEnded(part, complete=True) for part in parts], ended)
    in_flight.ledger.odd("odd_thing")
    in_flight.ledger.drop("store")
    in_flight.close()
    line = log.request
    assert (line["calls"], line["ending"]) == (1, "max_tokens")
    assert (line["input_tokens"], line["output_tokens"]) == (1, 2)
    assert (line["cached_tokens"], line["reasoning_tokens"]) == (4, 5)
    assert (line["oddities"], line["dropped"]) == ({"odd_thing": 1}, {"store": 1})


@pytest.mark.parametrize("ended", [None, ReplyEnded(Ending.COMPLETED)])
async def test_what_is_not_known_is_not_told(
    make: Callable[[], InFlight], log: LogLines, ended: ReplyEnded | None
) -> None:
    in_flight = make()
    in_flight.reply = Reply(ended=ended)
    in_flight.close()
    assert "input_tokens" not in log.request
    assert ("ending" in log.request) is (ended is not None)


async def test_remarks_of_the_core_carry_the_requests_id(make: Callable[[], InFlight], log: LogLines) -> None:
    """R11."""
    make().ledger.log.debug("call started")
    assert log.named("call started")[0]["request_id"] == "req_1"
