"""attack-14: as much memory as the machine or the container has."""

import os
from pathlib import Path

import pytest

from proxy.shell.ops import machine


def test_the_machine_has_some() -> None:
    memory = machine.memory_bytes()
    assert memory is not None
    assert memory > 1 << 27


def test_a_container_may_have_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (limit := tmp_path / "memory.max").write_text("300000000\n")
    (none := tmp_path / "none").write_text("max\n")
    monkeypatch.setattr(machine, "CONTAINERS_LIMIT", (none, limit, tmp_path / "missing"))
    assert machine.memory_bytes() == 300_000_000


def test_where_nobody_tells_it_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "CONTAINERS_LIMIT", ())
    monkeypatch.delattr(os, "sysconf")
    assert machine.memory_bytes() is None
