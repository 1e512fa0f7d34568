"""What there is to count, and how Prometheus shall read it."""

import re

import pytest

from proxy.shell.ops.metric_families import FAMILIES, SECONDS


@pytest.mark.parametrize("name", FAMILIES)
def test_each_has_a_name_and_says_what_it_is_about(name: str) -> None:
    family = FAMILIES[name]
    assert re.fullmatch("[a-z_]+", name)
    assert family.about.endswith(".")
    assert len(set(family.labels)) == len(family.labels)
    assert "worker" not in family.labels, "every family has it besides"


def test_buckets_grow() -> None:
    assert sorted(set(SECONDS)) == list(SECONDS)
