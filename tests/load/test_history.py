"""What each commit cost: one line for each run, and the trend over them."""

from pathlib import Path

import pytest

from tests.load import history
from tests.load.history import Measured, NotOutside
from tests.load.process import ROOT


def test_each_run_is_a_line_and_a_column(tmp_path: Path) -> None:
    file = tmp_path / "costs" / "history.jsonl"
    for ratio in (2.0, 2.01, 2.5):
        runs = history.append(file, history.here({"burst": ratio, "short": 2.0}))
    assert len(file.read_bytes().splitlines()) == 3
    head, burst, short, told = history.trend(runs).splitlines()
    assert head.split() == [run.commit for run in runs]
    assert burst.split() == ["burst", "2.00", "2.01", "2.50", "▁▁█"]
    assert short.split() == ["short", "2.00", "2.00", "2.00", "▁▁▁"]
    assert told.startswith("3 runs, from ")


def test_a_load_that_was_left_out_leaves_a_gap() -> None:
    runs = [Measured("a", "then", {"burst": 2.0}), Measured("b", "now", {"short": 1.0, "burst": 1.99})]
    assert history.trend(runs).splitlines()[2].split() == ["short", "–", "1.00", "▁"]


def test_only_the_newest_are_shown() -> None:
    runs = [Measured(str(number), "then", {"burst": 2.0}) for number in range(50)]
    assert history.trend(runs).splitlines()[0].split() == [str(number) for number in range(38, 50)]


def test_the_file_is_no_part_of_the_repository() -> None:
    with pytest.raises(NotOutside, match="name a file outside"):
        history.checked(ROOT / "history.jsonl")
