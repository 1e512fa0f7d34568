"""The numbered rows of a page: the first column of its tables, in which `F01–F08` stands for all eight."""

import re
from collections.abc import Iterator
from pathlib import Path

FIRST_COLUMN = re.compile(r"^\| *([A-Za-z][^|]*?) *\|", re.MULTILINE)
RANGE = re.compile(r"([A-Za-z]+-?)(\d+)(?:–[A-Za-z]+-?(\d+))?")


def rows(page: Path) -> Iterator[str]:
    for cell in FIRST_COLUMN.findall(page.read_text(encoding="utf-8")):
        for part in cell.split(", "):
            if found := RANGE.fullmatch(part):
                letters, first, last = found.groups()
                for number in range(int(first), int(last or first) + 1):
                    yield f"{letters}{number:0{len(first)}}"
