"""All that is known of one request but for what was said in it."""

from proxy.core.errors import Truncated
from proxy.core.ledger import Ledger
from proxy.shell.inspector.details import detail
from proxy.shell.inspector.ring import Seen
from tests.support.watching import a_watch, end


def test_counters_are_told_in_words() -> None:
    ledger = Ledger()
    ledger.odd("finish_missing")
    ledger.drop("image")
    ledger.found("recovered", "hermes")
    ledger.warn("You said: my secret prompt")
    watch = end(a_watch(lambda: 0.0, ledger=ledger), 502, Truncated("It said: my secret prompt"))
    told = detail(Seen(1, watch), "0-life-1")
    assert [(remark["kind"], remark["name"], remark["times"]) for remark in told["remarks"]] == [
        ("found in text", "recovered:hermes", 1),
        ("odd", "finish_missing", 1),
        ("not passed on", "image", 1),
    ]
    assert told["findings"][0]["what"] == "The backend's stream broke off before its end."
    assert told["warnings"] == 1
    assert "secret" not in str(told)
