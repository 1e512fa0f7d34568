"""The events of the log: one grammar, and each of them is explained to operators."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / ".github" / "docs" / "operations.md"

LOGS = re.compile(r"\b_?log$")
WARNS = "self._warn"
"""What it was handed is a log's method."""

LEVELS = {level: level for level in ("debug", "info", "warning", "error")} | {"tell": "info"}
NAME = re.compile(r"[a-z]+(_[a-z]+)*")


def logged() -> Iterator[tuple[str, str]]:
    """Each event with its level, from all calls of a log."""
    for path in sorted((ROOT / "proxy").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            match node:
                case ast.Call(func=ast.Attribute(value=log, attr=level), args=[event, *_]) if (
                    level in LEVELS and LOGS.search(ast.unparse(log))
                ):
                    yield text_of(event, path), LEVELS[level]
                case ast.Call(func=func, args=[event, *_]) if ast.unparse(func) == WARNS:
                    yield text_of(event, path), "warning"


def text_of(event: ast.expr, path: Path) -> str:
    assert isinstance(event, ast.Constant), (
        f"{path.name}:{event.lineno}: an event is a name, not made of parts"
    )
    return str(event.value)


def documented() -> Iterator[tuple[str, str]]:
    table = DOCUMENT.read_text().split("| event | level | when |")[1]
    for row in re.findall(r"^\| (`.+?`) \| (\w+) \|", table, re.M):
        for name in re.findall(r"`(\w+)`", row[0]):
            yield name, row[1]


def test_each_event_is_explained_and_no_other() -> None:
    assert sorted(set(documented())) == sorted(set(logged()))


def test_none_is_explained_twice() -> None:
    names = [name for name, _ in documented()]
    assert len(names) == len(set(names))


def test_they_are_names() -> None:
    assert [event for event, _ in logged() if not NAME.fullmatch(event)] == []
