"""The page that Prometheus reads."""

from typing import Any

from proxy.shell.ops.exposition import page
from proxy.shell.ops.metric_families import SECONDS
from proxy.shell.ops.metrics import Metrics
from tests.support.samples import count, samples


def test_no_worker_no_numbers() -> None:
    assert samples(page({})) == {}


def test_a_worker_that_does_not_answer_is_said_to_be_down() -> None:
    counted = Metrics({}, ())
    count(counted)
    told = samples(page({"0": counted.counts(), "1": None}))
    assert told["worker_up", "worker=0"] == 1
    assert told["worker_up", "worker=1"] == 0
    assert not [labels for name, labels in told if "worker=1" in labels and name != "worker_up"]


def test_a_bucket_holds_all_that_is_below_it() -> None:
    times: Any = [0.0] * (len(SECONDS) + 2)
    times[0], times[2], times[-1] = 2.0, 1.0, 0.5
    told = samples(page({"0": {"first_token_seconds": [(("b",), times)]}}))
    buckets = {
        labels.split()[1]: n for (name, labels), n in told.items() if name == "first_token_seconds_bucket"
    }
    assert (buckets["le=0.1"], buckets["le=0.25"], buckets["le=0.5"], buckets["le=+Inf"]) == (2, 2, 3, 3)
    assert told["first_token_seconds_sum", "backend=b worker=0"] == 0.5
