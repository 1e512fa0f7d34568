"""Every rule of what is kept has a test that names it; what clients see, one that sees it as they do."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests import numbered

TESTS = Path(__file__).parents[1]
OVER_SOCKETS = (
    "state",
    "clients",
    "node",
    "backends",
    "contract",
    "shell/serving",
    "shell/websocket",
    "commands",
)
"""Folders whose tests speak to a proxy that listens, or run programs, as those beside them here do."""
ROW = re.compile(r"(?<![A-Za-z0-9])[TUtu]\d{2,3}(?!\d)")
DEFINED = [row for row in numbered.rows(Path(__file__).with_name("README.md")) if row[0] in "TU"]


def modules_in(*folders: str) -> Iterator[Path]:
    for folder in folders:
        for module in (TESTS / folder).rglob("test_*.*"):
            if module.suffix in (".py", ".mjs") and module.name != Path(__file__).name:
                yield module


def cited(modules: Iterator[Path]) -> set[str]:
    return {row.upper() for module in modules for row in ROW.findall(module.read_text(encoding="utf-8"))}


def test_the_tables_have_every_row() -> None:
    assert [row for row in DEFINED if row[0] == "T"] == [f"T{number:02}" for number in range(1, 103)]
    assert sorted(row for row in DEFINED if row[0] == "U") == [f"U{number:02}" for number in range(1, 67)]


def test_every_row_is_cited() -> None:
    assert sorted({*DEFINED} - cited(modules_in("."))) == []


def test_what_clients_see_is_seen_over_sockets() -> None:
    found = cited(modules_in(*OVER_SOCKETS)) | cited(TESTS.glob("test_*.py"))
    assert sorted(row for row in DEFINED if row[0] == "T" and row not in found) == []
