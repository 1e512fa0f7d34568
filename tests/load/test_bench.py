"""The benchmark for users: that it runs, tells a table and draws it."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from tests.load.chart import chart
from tests.load.process import ROOT, python

SECONDS = 60


def bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = python("tests.load.bench", *map(str, arguments))
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)


def test_a_round_ends_in_a_table_and_a_chart(tmp_path: Path) -> None:
    picture, costs = tmp_path / "chart.svg", tmp_path / "costs.jsonl"
    done = bench(
        "--workloads",
        "short,tools",
        "--rounds",
        "1",
        "--workers",
        "2",
        "--chart",
        picture,
        "--history",
        costs,
    )
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    ratios = {(row[0], row[2]) for row in rows if row[0] == "copying"}
    assert ratios == {("copying", "1.00")}
    for target in (["responses"], ["2", "workers"]):
        assert [row[-1] for row in rows if row[: len(target)] == target] == ["0", "0"]  # failed
    assert len(costs.read_bytes().splitlines()) == 1
    assert "1 run, from" in done.stdout
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")


def test_nothing_is_installed_in_silence() -> None:
    done = bench("--litellm", sys.executable)
    assert done.returncode == 2
    assert "nothing is installed here by itself" in done.stderr
    assert "pip install 'litellm[proxy]'" in done.stderr


def test_an_unknown_load_is_named() -> None:
    done = bench("--workloads", "short,everything")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Unknown: everything.")


def test_a_chart_has_a_bar_for_each_and_survives_any_ratio() -> None:
    drawn = chart({"text & tools": {"copying": 1.0, "ours": 0.4}, "short": {"copying": 1.0, "ours": 594.0}})
    tree = ElementTree.fromstring(drawn)
    words = [element.text for element in tree.iter() if element.tag.endswith("text")]
    assert {"text & tools", "0.40", "594", "1000"} <= set(words)
    bars = [element for element in tree.iter() if element.get("height") == "16"]
    assert len(bars) == 4
    assert all(0 < float(bar.get("width", 0)) <= 470 for bar in bars)
