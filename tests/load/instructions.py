"""What a hundred requests cost in instructions: `scripts/instructions`.

Time wavers with whatever else a machine does; instructions do not. Valgrind counts them within one process, from behind
a warm-up, for the proxy and for the one that only copies. The ratio of the two is nearly the same on every machine, so
that it is kept in `instructions.json` and a growth of more than a twentieth is an error, which no test of times could
be. Whoever makes something dearer on purpose, or cheaper, records it: `scripts/instructions --record`.
"""

import argparse
import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from proxy.core import jsontext
from tests.load import targets
from tests.load.bench import Figures, Target, Workload, run
from tests.load.process import Server
from tests.load.script import Script

RECORDED = Path(__file__).with_suffix(".json")
MOST_GROWTH = 1.05
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

ROWS = {
    "short": Workload("40 short requests, not streamed", Script(4), 4, 10, "request", stream=False),
    "stored": Workload("10 of them that are stored", Script(4), 1, 10, "request", stream=False),
    "stream": Workload("20 streams of 100 pieces, 5 in a read", Script(100, burst=5), 2, 10, "request"),
    "tools": Workload(
        "20 calls of 100 pieces, 5 in a read", Script(100, burst=5, kind="tool"), 2, 10, "request"
    ),
    "history": Workload("10 requests with 40 items and 20 tools", Script(4), 2, 5, "request", history=40),
}
"""A hundred requests in all."""
WARM_UP_REQUESTS = 3
"""On each connection, before anything is counted: what is done once for each tool, model or backend is done."""

CALLGRIND = ("valgrind", "--tool=callgrind", "--instr-atstart=no")
TOTAL = re.compile(r"^(?:totals|summary): (\d+)", re.MULTILINE)


def can_count() -> bool:
    return all(map(shutil.which, ("valgrind", "callgrind_control")))


class Counting:
    """One process under callgrind."""

    def __init__(self, server: Server, folder: Path) -> None:
        self._server = server
        self._folder = folder

    @classmethod
    def prefix(cls, folder: Path) -> tuple[str, ...]:
        return (*CALLGRIND, f"--callgrind-out-file={folder}/counted")

    async def of(self, workload: Workload, target: Target) -> int:
        """The instructions of the process for all requests of the load."""
        warm_up = Workload(**{**vars(workload), "requests": WARM_UP_REQUESTS})
        await _run(warm_up, target)
        self._control("--instr=on")
        self._control("--zero")
        await _run(workload, target)
        before = set(self._folder.iterdir())
        self._control("--dump")
        self._control("--instr=off")
        found = [path for path in self._folder.iterdir() if path not in before]
        return max(int(count) for path in found for count in TOTAL.findall(path.read_text(errors="replace")))

    def _control(self, word: str) -> None:
        subprocess.run(["callgrind_control", word, str(self._server.pid)], check=True, capture_output=True)


async def _run(workload: Workload, target: Target) -> None:
    figures = Figures()
    await run(workload, target, figures)
    if figures.faults:
        raise SystemExit(f"{target.name}: {figures.faults[0]}")


def counted() -> dict[str, float]:
    """By row, the proxy's instructions as a multiple of the copying proxy's."""
    with (
        tempfile.TemporaryDirectory() as ours,
        tempfile.TemporaryDirectory() as theirs,
        targets.backend() as backend,
        tempfile.TemporaryDirectory() as store,
        targets.proxy(backend.url, store=f"sqlite:{store}", under=Counting.prefix(Path(ours))) as proxy,
        targets.copying(backend.url, under=Counting.prefix(Path(theirs))) as copying,
    ):
        return asyncio.run(
            _ratios((Counting(proxy, Path(ours)), proxy), (Counting(copying, Path(theirs)), copying))
        )


async def _ratios(proxy: tuple[Counting, Server], copying: tuple[Counting, Server]) -> dict[str, float]:
    found = {}
    for name, workload in ROWS.items():
        count = await proxy[0].of(workload, Target("proxy", proxy[1], "responses", stores=name == "stored"))
        measure = await copying[0].of(workload, Target("copying", copying[1], "chat"))
        found[name] = round(count / measure, 3)
    return found


def grown(found: dict[str, float], recorded: dict[str, float]) -> list[str]:
    """A line for each row that has grown too much."""
    return [
        f"{ROWS[name].about}: {ratio:.2f} times as many instructions as copying, {recorded[name]:.2f} recorded"
        for name, ratio in found.items()
        if ratio > recorded[name] * MOST_GROWTH
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/instructions", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--record", action="store_true", help="Keep what is counted as the measure.")
    wanted = parser.parse_args(arguments)
    if not can_count():
        sys.stderr.write("Nothing is counted: there is no valgrind. To install it: apt install valgrind\n")
        return 2
    found = counted()
    all_recorded = jsontext.loads(RECORDED.read_bytes())
    recorded = all_recorded.get(PYTHON, found)
    for name, ratio in found.items():
        sys.stdout.write(f"{ROWS[name].about:42}{ratio:7.3f}  recorded {recorded[name]:.3f}\n")
    if wanted.record:
        RECORDED.write_bytes(jsontext.dumps(all_recorded | {PYTHON: found}) + b"\n")
        return 0
    more = grown(found, recorded)
    sys.stdout.write("".join(f"GROWN: {line}\n" for line in more))
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main())
