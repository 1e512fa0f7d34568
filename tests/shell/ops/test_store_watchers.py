"""What operators are shown of a store."""

import pytest

from proxy.shell.ops.logs import make_log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.store_watchers import OrderWatcher, StoreWatcher, UnreadableWatcher
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
    watcher = StoreWatcher(metrics, make_log("info", "json", stream=log.stream))
    watcher.took("save", 0.25)
    watcher.took("save", 0.5)
    watcher.failed("get", "no answer within 2 s")
    assert counted(metrics, "store_commands") == {("save",): 2}
    assert counted(metrics, "store_seconds") == {("save",): 0.75}
    assert counted(metrics, "store_failures") == {("get",): 1}
    assert log.lines == []


def test_a_line_tells_of_each_turn(metrics: Metrics, log: LogLines) -> None:
    watcher = StoreWatcher(metrics, make_log("info", "json", stream=log.stream))
    watcher.went_down("no answer within 2 s")
    watcher.came_back(3.14159)
    watcher.refused("the file is damaged")
    assert [(line["event"], line.get("reason"), line.get("seconds")) for line in log.lines] == [
        ("store_down", "no answer within 2 s", None),
        ("store_up", None, 3.1),
        ("store_unreadable", "the file is damaged", None),
    ]


async def test_what_keeps_it_in_order_is_counted(metrics: Metrics, log: LogLines) -> None:
    watcher = OrderWatcher(metrics, make_log("info", "json", stream=log.stream))
    await watcher.settled([("ann", "resp_1"), ("bob", "resp_2")])
    watcher.swept("expired", 50)
    watcher.failed(OSError("no space"))
    assert counted(metrics, "runs_lost") == {(): 2}
    assert counted(metrics, "swept") == {("expired",): 50}
    assert [line.get("response_id") for line in log.named("run_lost")] == ["resp_1", "resp_2"]
    assert log.named("store_order_failed")[0]["kind"] == "OSError"


def test_what_cannot_be_read_is_counted_and_told_once_in_a_while(metrics: Metrics, log: LogLines) -> None:
    """U61: each time by kind and reason; in the log at most once a minute, with an example."""
    now = 1000.0
    watcher = UnreadableWatcher(metrics, make_log("info", "json", stream=log.stream), lambda: now)
    for number in range(5):
        watcher.met("response", "no_key", f"resp_{number}", "0a1b2c3d4e5f6071")
    watcher.met("memo", "damaged", "memo_1", "")
    now += 59
    watcher.met("response", "no_key", "resp_5", "0a1b2c3d4e5f6071")
    now += 1
    watcher.met("response", "no_key", "resp_6", "0a1b2c3d4e5f6071")
    assert counted(metrics, "store_unreadable") == {("response", "no_key"): 7, ("memo", "damaged"): 1}
    lines = [[line.get(name) for name in ("what", "reason", "example", "times")] for line in log.lines]
    assert lines == [
        ["response", "no_key", "resp_0", 1],
        ["memo", "damaged", "memo_1", 1],
        ["response", "no_key", "resp_6", 6],
    ]
    assert {line["event"] for line in log.lines} == {"row_unreadable"}
    assert [line.get("sealed_by") for line in log.lines] == ["0a1b2c3d4e5f6071", None, "0a1b2c3d4e5f6071"]
