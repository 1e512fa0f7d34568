"""Every row of the contract is somebody's test: its id stands in the words of at least one."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent.parent
ROWS = {
    *(f"C{number:02}" for number in range(1, 9)),
    *(f"N{number:02}" for number in range(1, 7)),
    *(f"P{number:02}" for number in range(1, 12)),
}
ROW = re.compile(r"\b[CNP]\d\d\b")


def words_of_tests() -> Iterator[str]:
    """What tests say of themselves, or their modules of them all."""
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if not ROW.search(text):
            continue
        module = ast.parse(text)
        for node in ast.walk(module):
            is_test = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[:5] == "test_"
            if is_test or node is module:
                yield ast.get_docstring(node) or ""


def test_every_row_is_cited() -> None:
    cited = {row for words in words_of_tests() for row in ROW.findall(words)}
    assert cited == ROWS
