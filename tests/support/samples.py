"""Metrics, counted and read back as a scraper reads them."""

from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from proxy.core.errors import Fault
from proxy.core.facts import RequestFacts
from proxy.core.ledger import Ledger
from proxy.shell.ops.metrics import Metrics

Samples = dict[tuple[str, str], float]


def samples(text: bytes) -> Samples:
    """By the name and the labels, as they are written but for the order."""
    return {
        (
            sample.name.removeprefix("responses_proxy_"),
            " ".join(f"{name}={value}" for name, value in sorted(sample.labels.items())),
        ): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def count(
    counted: Metrics, *, ledger: Ledger | None = None, fault: Fault | None = None, **facts: Any
) -> None:
    counted.began("chat")
    if facts.get("stream"):
        counted.streams("chat")
    counted.ended("chat", noted(facts, ledger), fault)


ENDED: RequestFacts = {"tenant": "t", "status": 200, "backend": "b", "ending": "completed", "ms_total": 40.0}


def noted(facts: dict[str, Any], ledger: Ledger | None = None) -> Ledger:
    ledger = ledger or Ledger()
    ledger.facts.update({**ENDED, **facts})  # type: ignore[typeddict-item]
    return ledger
