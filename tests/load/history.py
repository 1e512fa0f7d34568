"""What each commit cost, in a file outside of the repository: a slow growth shows only over many of them.

A line for each run: the commit, when it was, and the ratio to the copying proxy under each load.
"""

import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from proxy.core import jsontext
from tests.load.process import ROOT

SHOWN = 12
"""Runs in the table: the newest."""
HASH_CHARACTERS = 9
STEPS = "▁▂▃▄▅▆▇█"
LEAST_SPREAD = 0.1
"""Of the first value: less than that is chance, and is drawn as a flat line."""
CHANGED = "+"
"""Behind a commit that was not all that was measured."""


class NotOutside(Exception):
    """The file would become a part of what it tells of."""


@dataclass(frozen=True)
class Measured:
    commit: str
    at: str
    ratios: dict[str, float]


def here(ratios: dict[str, float]) -> Measured:
    commit = _git("rev-parse", f"--short={HASH_CHARACTERS}", "HEAD") + (
        CHANGED if _git("status", "--porcelain", "--untracked-files=no") else ""
    )
    return Measured(commit, f"{datetime.now(UTC):%Y-%m-%d %H:%M}", ratios)


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def checked(path: Path) -> Path:
    if path.resolve().is_relative_to(ROOT):
        raise NotOutside(f"{path} lies in the repository: name a file outside, as every commit changes it.")
    return path


def append(path: Path, measured: Measured) -> list[Measured]:
    """All that the file tells, with this run as the last."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(jsontext.dumps(asdict(measured)) + b"\n")
    return [Measured(**jsontext.loads(line)) for line in path.read_bytes().splitlines()]


def trend(runs: Sequence[Measured]) -> str:
    """A row for each load, a column for each of the newest runs."""
    shown = runs[-SHOWN:]
    loads = list(dict.fromkeys(name for run in shown for name in run.ratios))
    width = max(HASH_CHARACTERS + 3, *(len(name) + 2 for name in loads))
    lines = ["".ljust(width) + "".join(run.commit.rjust(HASH_CHARACTERS + 2) for run in shown)]
    for name in loads:
        values = [run.ratios.get(name) for run in shown]
        cells = ("–" if value is None else f"{value:.2f}" for value in values)
        drawn = _drawn([value for value in values if value is not None])
        lines.append(
            name.ljust(width) + "".join(cell.rjust(HASH_CHARACTERS + 2) for cell in cells) + f"  {drawn}"
        )
    told = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    return "\n".join([*lines, f"{told}, from {runs[0].at} to {runs[-1].at} UTC"])


def _drawn(values: Sequence[float]) -> str:
    low, spread = min(values), max(max(values) - min(values), LEAST_SPREAD * values[0])
    return "".join(STEPS[round((value - low) / spread * (len(STEPS) - 1))] for value in values)
