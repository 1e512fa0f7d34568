"""What operators are shown of a store."""

import pytest

from proxy.shell.ops.logs import make_log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.store_watch import OrderWatch, StoreWatch
from tests.support.proxies import LogLines


@pytest.fixture
def metrics() -> Metrics:
    return Metrics({}, ())


@pytest.fixture
def log() -> LogLines:
    return LogLines()


def counted(metrics: Metrics, family: str) -> dict[tuple[str, ...], float]:
    return dict(metrics.counts()[family])


def test_commands_are_counted_by_what_they_do(metrics: Metrics, log: LogLines) -> None:
    watch = StoreWatch(metrics, make_log("info", "json", stream=log.stream))
    watch.took("save", 0.25)
    watch.took("save", 0.5)
    watch.failed("get", "no answer within 2 s")
    assert counted(metrics, "store_commands") == {("save",): 2}
    assert counted(metrics, "store_seconds") == {("save",): 0.75}
    assert counted(metrics, "store_failures") == {("get",): 1}
    assert log.lines == []


def test_a_line_tells_of_each_turn(metrics: Metrics, log: LogLines) -> None:
    watch = StoreWatch(metrics, make_log("info", "json", stream=log.stream))
    watch.went_down("no answer within 2 s")
    watch.came_back(3.14159)
    watch.refused("the file is damaged")
    assert [(line["event"], line.get("reason"), line.get("seconds")) for line in log.lines] == [
        ("store_down", "no answer within 2 s", None),
        ("store_up", None, 3.1),
        ("store_unreadable", "the file is damaged", None),
    ]


async def test_what_keeps_it_in_order_is_counted(metrics: Metrics, log: LogLines) -> None:
    watch = OrderWatch(metrics, make_log("info", "json", stream=log.stream))
    await watch.settled([("ann", "resp_1"), ("bob", "resp_2")])
    watch.swept("expired", 50)
    watch.failed(OSError("no space"))
    assert counted(metrics, "runs_lost") == {(): 2}
    assert counted(metrics, "swept") == {("expired",): 50}
    assert [line.get("response_id") for line in log.named("run_lost")] == ["resp_1", "resp_2"]
    assert log.named("store_order_failed")[0]["kind"] == "OSError"
