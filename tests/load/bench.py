"""What the proxy costs: `scripts/bench`.

It runs against a plain copying proxy under the same load, round after round in turn, and prints one table. All of it is
on this machine's loopback and ends within minutes. Only ratios within one run mean anything: the backend and the client
share a core, the proxy that is measured has another, and whatever else runs spoils the times.
"""

import argparse
import asyncio
import os
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from proxy.commands.progress import Progress
from tests.load import history, targets
from tests.load.chart import chart
from tests.load.client import Answer, Connection
from tests.load.process import INTERRUPTED, Server, cpu_seconds, ends_when_asked, memory_mib
from tests.load.requests import PATHS, Ask, Surface
from tests.load.script import Script

US, MS = 1e6, 1e3
NS_PER_MS = 1e6
BACKEND_CORE, TARGET_CORE = 0, 1
OPENED_AT_ONCE = 50
START_SECONDS = 90.0
LOAD_SECONDS = 180.0
MEMORY_SECONDS = 0.25
PAUSE_SECONDS = 0.2


@dataclass(frozen=True)
class Workload:
    about: str
    script: Script
    connections: int
    requests: int
    """On each connection, one after another."""
    per: str = "chunk"
    """What the processor's time is told for."""
    stream: bool = True
    history: int = 0

    def ask(self, surface: Surface, *, stores: bool = False) -> Ask:
        return Ask(self.script, surface, self.stream, self.history, stores)

    @property
    def units(self) -> int:
        requests = self.connections * self.requests
        return requests * self.script.pieces if self.per == "chunk" else requests


WORKLOADS = {
    "burst": Workload("text, 20 chunks in a read", Script(2000, burst=20), 1, 30),
    "single": Workload("text, one chunk in a read", Script(200, gap_ms=5), 64, 2),
    "few": Workload("the same with few streams", Script(200, gap_ms=5), 24, 3),
    "tools": Workload("tool arguments, 20 in a read", Script(2000, burst=20, kind="tool"), 1, 30),
    "short": Workload("short request, not streamed", Script(4), 16, 50, "request", stream=False),
    "history": Workload("200 items and 20 tools", Script(20), 4, 25, "request", history=200),
    "open": Workload("500 open streams", Script(8, gap_ms=500), 500, 1),
}
WARM_UP = Workload("warm-up", Script(50), 4, 10)


@dataclass(frozen=True)
class Target:
    name: str
    server: Server
    surface: Surface
    workers: int = 1
    """Each gets the load that one alone would get."""
    stores: bool = False


@dataclass
class Figures:
    """Of one target under one load, over all rounds."""

    cpu: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    base: float = 0.0
    peak: float = 0.0
    faults: list[str] = field(default_factory=list)
    answers: int = 0

    @property
    def least_cpu(self) -> float:
        """Whatever else runs can only add to it."""
        return min(self.cpu)


async def run(workload: Workload, target: Target, figures: Figures) -> None:
    url, ask = target.server.url, workload.ask(target.surface, stores=target.stores)
    request = ask.request(url)
    answers: list[Answer] = []
    memory, pid = memory_mib(target.server.pid), target.server.pid
    figures.base = figures.base or memory
    figures.peak = max(figures.peak, memory)

    async def client() -> None:
        connection = await Connection.to(url)
        answers.extend([await connection.ask(request) for _ in range(workload.requests)])
        connection.close()

    async def watch() -> None:
        while True:
            await asyncio.sleep(MEMORY_SECONDS)
            figures.peak = max(figures.peak, memory_mib(pid))

    before = cpu_seconds(pid)
    async with asyncio.timeout(LOAD_SECONDS), asyncio.TaskGroup() as group:
        watcher = group.create_task(watch())
        async with asyncio.TaskGroup() as clients:
            for number in range(workload.connections * target.workers):
                clients.create_task(client())
                if number % OPENED_AT_ONCE == 0:
                    await asyncio.sleep(0)
        watcher.cancel()
    figures.cpu.append((cpu_seconds(pid) - before) / (workload.units * target.workers) * US)
    for answer in answers:
        _judge(ask, answer, figures)


def _judge(ask: Ask, answer: Answer, figures: Figures) -> None:
    figures.answers += 1
    body = bytes(answer.body)
    if answer.status != 200 or not answer.whole:
        figures.faults.append(f"status {answer.status}: {body[:120]!r}")
    elif not ask.ended(body):
        figures.faults.append(f"it did not end well: {body[-120:]!r}")
    elif wrong := ask.script.complaint(ask.text_of(body), whole=True):
        figures.faults.append(wrong)
    elif ask.stream:
        times = answer.piece_times(ask.script.pieces)
        figures.first.append((times[0][1] - answer.asked) / NS_PER_MS)
        if ask.script.gap_ms:
            figures.delays += ((came - sent) / NS_PER_MS for sent, came in times)


# ── telling ──

COLUMNS = ("target", "CPU µs", "ratio", "first ms", "delay p50", "p99 ms", "MiB", "peak", "failed")
LINE = "  {:<14}{:>10}{:>8}{:>10}{:>11}{:>9}{:>7}{:>7}{:>8}"


def table(rows: dict[str, dict[str, Figures]]) -> str:
    lines = [LINE.format(*COLUMNS)]
    for name, targets_ in rows.items():
        workload = WORKLOADS[name]
        lines.append(f"{name}: {workload.about}; per {workload.per}")
        measure = next(iter(targets_.values()))
        for target, figures in targets_.items():
            cells = (
                target,
                f"{figures.least_cpu:.2f}",
                f"{figures.least_cpu / measure.least_cpu:.2f}",
                _quantile(figures.first, 0.5),
                _quantile(figures.delays, 0.5, digits=3),
                _quantile(figures.delays, 0.99),
                f"{figures.base:.0f}",
                f"{figures.peak:.0f}",
                len(figures.faults),
            )
            lines.append(LINE.format(*cells))
            lines += (f"      {fault}" for fault in sorted(set(figures.faults))[:3])
    return "\n".join(lines)


def _quantile(values: Sequence[float], at: float, digits: int = 2) -> str:
    if not values:
        return "–"
    ordered = sorted(values)
    value = statistics.median(ordered) if at == 0.5 else ordered[int(len(ordered) * at)]
    return f"{value:.{digits}f}"


def _ratio(of_targets: dict[str, Figures], target: str) -> float:
    measure = next(iter(of_targets.values())).least_cpu
    return round(of_targets[target].least_cpu / measure, 3)


def ratios(rows: dict[str, dict[str, Figures]]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for name, of_targets in rows.items():
        found[WORKLOADS[name].about] = {target: _ratio(of_targets, target) for target in of_targets}
    return found


# ── the command ──


def main() -> int:
    wanted = _parser().parse_args()
    ends_when_asked()
    unknown = [name for name in wanted.workloads.split(",") if name not in WORKLOADS]
    if unknown or not Path("/proc/self/smaps_rollup").exists():
        why = f"Unknown: {', '.join(unknown)}. " if unknown else "It reads /proc, so it needs Linux. "
        sys.stderr.write(f"{why}scripts/bench --help tells more.\n")
        return 2
    if wanted.history:
        try:
            history.checked(wanted.history)
        except history.NotOutside as error:
            sys.stderr.write(f"{error}\n")
            return 2
    if wanted.litellm and not targets.has_litellm(wanted.litellm):
        sys.stderr.write(
            f"{wanted.litellm} has no LiteLLM proxy, and nothing is installed here by itself. To have one:\n"
            "  python3 -m venv /tmp/litellm && /tmp/litellm/bin/pip install 'litellm[proxy]'\n"
            "  scripts/bench --litellm /tmp/litellm/bin/python\n"
        )
        return 2
    try:
        if wanted.state:
            from tests.load import stored_bench  # which is made of this

            engine = stored_bench.ENGINES[wanted.state]
            sys.stdout.write(f"{stored_bench.measured(engine, wanted.rounds, _progress)}\n")
            return 0
        rows = _measured(wanted)
    except KeyboardInterrupt:
        return INTERRUPTED
    sys.stdout.write(f"{table(rows)}\n")
    if wanted.history:
        ours = {name: _ratio(figures, wanted.surface) for name, figures in rows.items()}
        runs = history.append(wanted.history, history.here(ours))
        sys.stdout.write(f"{history.trend(runs)}\n")
    if wanted.chart:
        Path(wanted.chart).write_text(chart(ratios(rows)), encoding="utf-8")
        sys.stdout.write(f"The chart is in {wanted.chart}\n")
    return 1 if any(figures.faults for row in rows.values() for figures in row.values()) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/bench",
        description="Measures what the proxy costs, as ratios to a proxy that only copies bytes.",
        epilog="\n".join(f"  {name:<9}{workload.about}" for name, workload in WORKLOADS.items())
        + "\n\nCPU is the processor's time of the target for each chunk of the backend, or for each request: the least"
        "\nof the rounds. First: from a request to its first text. Delay: of a piece, from the backend to the client;"
        "\nwhat the proxy adds is the difference to the copying one. MiB: before the load, and at most.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--workloads", default=",".join(WORKLOADS), metavar="A,B", help="Those below, or some."
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="More of them: less chance. [3]")
    parser.add_argument(
        "--surface", choices=list(PATHS), default="responses", help="What the proxy is spoken to in."
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="Measures so many workers, too, each under this load."
    )
    parser.add_argument(
        "--state",
        nargs="?",
        choices=["sqlite", "postgresql"],
        const="sqlite",
        help="Measures what it costs to be stored, and to be read again, instead. PostgreSQL is a server of its own.",
    )
    parser.add_argument(
        "--history",
        type=Path,
        metavar="FILE",
        help="Adds a line for this commit to a file outside of the repository, and shows the trend.",
    )
    parser.add_argument("--chart", metavar="FILE.svg", help="Writes a chart of the ratios.")
    parser.add_argument(
        "--litellm", metavar="PYTHON", help="Measures LiteLLM too, from this Python's environment."
    )
    return parser


def _measured(wanted: argparse.Namespace) -> dict[str, dict[str, Figures]]:
    cores = sorted(os.sched_getaffinity(0))
    apart = len(cores) > 1
    here, there = (cores[BACKEND_CORE], cores[TARGET_CORE]) if apart else (None, None)
    with ExitStack() as stack:
        if apart:
            os.sched_setaffinity(0, {cores[BACKEND_CORE]})
            stack.callback(os.sched_setaffinity, 0, cores)
        backend = stack.enter_context(targets.backend(here)).url
        running = [
            Target("copying", stack.enter_context(targets.copying(backend, there)), "chat"),
            Target(wanted.surface, stack.enter_context(targets.proxy(backend, there)), wanted.surface),
        ]
        if wanted.workers:
            server = stack.enter_context(targets.proxy(backend, there, wanted.workers))
            running.append(Target(f"{wanted.workers} workers", server, wanted.surface, wanted.workers))
        if wanted.litellm:
            server = stack.enter_context(targets.litellm(wanted.litellm, backend, there))
            running.append(Target("LiteLLM", server, "chat" if wanted.surface == "chat" else "responses"))
        return uvloop.run(_compare(running, wanted.workloads.split(","), wanted.rounds))


async def _compare(running: list[Target], names: list[str], rounds: int) -> dict[str, dict[str, Figures]]:
    for target in running:
        await _listens(target.server)
        await run(WARM_UP, target, Figures())
    found = {name: {target.name: Figures() for target in running} for name in names}
    for name, figures in found.items():
        for number in range(rounds):
            for target in running:
                _progress(f"{name}, round {number + 1} of {rounds}: {target.name}")
                await run(WORKLOADS[name], target, figures[target.name])
    _progress("")
    return found


def _progress(what: str) -> None:
    progress = Progress()
    progress.say(what) if what else progress.end()


async def _listens(server: Server) -> None:
    """Those that do not say when they are ready are asked until they are."""
    late = time.monotonic() + START_SECONDS
    while server.is_running and time.monotonic() < late:
        try:
            (await Connection.to(server.url)).close()
            return
        except OSError:
            await asyncio.sleep(PAUSE_SECONDS)
    raise SystemExit(f"It does not listen at {server.url}:\n{server.lines()[-2000:]}")


if __name__ == "__main__":
    sys.exit(main())
