"""The board: every query can be read, asks for what there is, and nothing that is counted is left out."""

import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from prometheus_client.parser import text_string_to_metric_families

from proxy.shell.ops.exposition import PREFIX, page
from proxy.shell.ops.metric_families import FAMILIES, SECONDS
from tests.deploy.tools import FILES, said_by, tool

BY_PROMETHEUS = {"job", "instance", "le"}
"""Labels that it adds, or that all histograms have."""

VARIABLES = {"$__rate_interval": "1m", "$job": ".+", "$instance": ".+"}
NO_TIMES = [0.0] * (len(SECONDS) + 2)
JUDGE = "import sys, promql_parser; [promql_parser.parse(line) for line in sys.stdin.read().splitlines()]"
NAME = re.compile(rf"{PREFIX}\w+")
LABELS = re.compile(r"by \(([^)]+)\)|\{([^}]*)\}")
WIDTH = 24

Panel = dict[str, Any]


@pytest.fixture(scope="module")
def board() -> Any:
    return orjson.loads((FILES / "grafana.json").read_bytes())


@pytest.fixture(scope="module")
def panels(board: Any) -> list[Panel]:
    return [panel for panel in board["panels"] if panel["type"] != "row"]


@pytest.fixture(scope="module")
def queries(panels: list[Panel]) -> list[str]:
    return [target["expr"] for panel in panels for target in panel["targets"]]


@pytest.fixture(scope="module")
def exposed() -> dict[str, set[str]]:
    """The labels of each series that `/metrics` has, with one number in every family."""
    counts: dict[str, Any] = {
        name: [(family.labels, NO_TIMES if family.kind == "histogram" else 0)]
        for name, family in FAMILIES.items()
    }
    told = page({"0": counts}).decode()
    return {
        sample.name: set(sample.labels)
        for family in text_string_to_metric_families(told)
        for sample in family.samples
    }


def labels(query: str) -> Iterator[str]:
    for grouped, matched in LABELS.findall(query):
        yield from (name.strip() for name in grouped.split(",") if name)
        yield from re.findall(r"(\w+)\s*=~?", matched)


def test_prometheus_reads_every_query(queries: list[str]) -> None:
    lines = "\n".join(queries)
    for name, value in VARIABLES.items():
        lines = lines.replace(name, value)
    assert "$" not in lines
    said_by(tool("python"), "-c", JUDGE, told=lines)


def test_every_metric_that_it_names_is_told_with_these_labels(
    queries: list[str], exposed: dict[str, set[str]]
) -> None:
    for query in queries:
        for name in NAME.findall(query):
            assert name in exposed
            assert set(labels(query)) <= exposed[name] | BY_PROMETHEUS, query


def test_a_legend_names_labels_of_its_query(panels: list[Panel]) -> None:
    for target in (target for panel in panels for target in panel["targets"]):
        named = re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])
        assert set(named) <= set(labels(target["expr"]))


def test_every_metric_is_on_it(queries: list[str], exposed: dict[str, set[str]]) -> None:
    """A new one wants a panel, or a line in one."""
    named = {name for query in queries for name in NAME.findall(query)}
    of_families = {re.sub("_(total|bucket|sum|count)$", "", name) for name in exposed}
    assert {re.sub("_(total|bucket)$", "", name) for name in named} == of_families


def test_counters_are_asked_for_their_growth_and_gauges_for_themselves(queries: list[str]) -> None:
    for query in queries:
        for name in NAME.findall(query):
            grows = name.endswith(("_total", "_bucket"))
            assert (f"rate({name}{{" in query) is grows


def test_panels_stand_beside_each_other(board: Any) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken
        assert at["x"] + at["w"] <= WIDTH
        taken |= cells
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
