"""Does it hold for hours? `scripts/soak`.

Clients on all three surfaces ask for text and tool calls, streamed and whole. Some leave in the middle; the backend
cuts, resets, fails and refuses some answers, and is killed and started anew every few seconds. Every answer is checked
to its last character: whole where the backend was well, else a beginning of it and one honest ending. In the end
nothing may be left over: no stream at the backend, no open file, no request in the metrics, no growing memory.
"""

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product

import uvloop

from tests.load import nodes_soak, stored_soak, targets
from tests.load.client import Answer, Connection
from tests.load.judging import violation
from tests.load.process import INTERRUPTED, Server, ends_when_asked, open_files
from tests.load.progress import SoakProgress
from tests.load.requests import KEY, PATHS, Ask
from tests.load.script import Script
from tests.load.watching import Watch, described, leaked_files, still_counted, streams_left, watching

LEAVE = -1
AFTER_BYTES = (0, 700, 2500, 6000)
"""Where clients leave: with the head, early, in the middle, near the end."""
WELL = 14
"""Of twenty: so many failures that the breaker may open now and then, and so few that most answers are whole."""
ENDINGS = ("well",) * WELL + ("cut", "reset", "error", "refused") + (LEAVE, LEAVE)
STRIDE = 299
"""Has no factor in common with the number of jobs, and is the golden part of it: any few in a row are well mixed."""
PIECES, GAP_MS = 40, 20

DOWN_SECONDS = 0.3
RECOVERY_NS = 2_000_000_000
"""After a restart: the breaker's pause, and what was refused or begun meanwhile."""
PAUSE_SECONDS = 0.5
"""Of a client that was not answered well, on average: like all that behave, each waits for another time."""
GOLDEN = 0.618034
FINISHING_SECONDS = 30.0
UNHANDLED = '"unhandled_exception"'
MOST_EXAMPLES = 10
TOLD_SECONDS = 1.0


@dataclass(frozen=True)
class Job:
    ask: Ask
    leave_after: int | None


def _jobs() -> tuple[Job, ...]:
    made = []
    for number, (surface, kind, ending, stream) in enumerate(
        product(PATHS, ("text", "tool"), ENDINGS, (True, True, True, False))
    ):
        leaves = ending == LEAVE
        script = Script(PIECES, GAP_MS, 1, kind, "well" if leaves else ending)
        after = AFTER_BYTES[number % len(AFTER_BYTES)] if leaves else None
        made.append(Job(Ask(script, surface, stream), after))
    return tuple(made)


JOBS = _jobs()


@dataclass
class Findings:
    endings: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    """Completed ones, by the surface and the kind."""
    restarts: int = 0
    violations: Counter[str] = field(default_factory=Counter)
    watch: Watch | None = None

    def wrong(self, what: str) -> None:
        self.violations[what] += 1


@dataclass(frozen=True)
class Rules:
    seconds: float
    streams: int = 100
    restart_seconds: float = 10.0
    growth_mib: float = 12.0
    lag_ms: float = 50.0


class Soak:
    def __init__(self, rules: Rules, backend: Server, proxy: Server) -> None:
        self.found = Findings()
        self._rules = rules
        self._backend = backend
        self._proxy = proxy
        self._outages: list[tuple[int, float]] = []
        self._over = False

    async def run(self) -> Findings:
        files = open_files(self._proxy.pid)
        async with (
            watching(self._proxy.url, self._proxy.pid) as self.found.watch,
            asyncio.TaskGroup() as group,
        ):
            others = [group.create_task(self._restart_now_and_then()), group.create_task(self._tell())]
            clients = [group.create_task(self._client(number)) for number in range(self._rules.streams)]
            await asyncio.sleep(self._rules.seconds)
            self._over = True
            for other in others:
                other.cancel()
            _, late = await asyncio.wait(clients, timeout=FINISHING_SECONDS)
            for client in late:
                client.cancel()
                self.found.wrong("an answer that never ended")
        await self._look_for_leaks(files)
        self._judge_figures()
        return self.found

    async def _client(self, number: int) -> None:
        connection: Connection | None = None
        pause = number * GOLDEN % 1
        for job in self._mixed(number):
            if connection is None or not connection.is_open:
                connection = await Connection.to(self._proxy.url)
            answer = await connection.ask(job.ask.request(self._proxy.url), job.leave_after)
            self._judge(job.ask, answer)
            if answer.status != 200:
                await asyncio.sleep(PAUSE_SECONDS * (0.5 + pause))
        if connection is not None:
            connection.close()

    def _mixed(self, number: int) -> Iterator[Job]:
        at = number * STRIDE
        while not self._over:
            at += STRIDE
            yield JOBS[at % len(JOBS)]

    def _judge(self, ask: Ask, answer: Answer) -> None:
        disturbed = any(answer.asked < back and killed < answer.ended for killed, back in self._outages)
        ending, wrong = violation(ask, answer, disturbed=disturbed)
        self.found.endings[ending] += 1
        if ending == "completed":
            self.found.done[f"{ask.surface} {ask.script.kind}"] += 1
        if wrong:
            self.found.wrong(f"{ask.surface}, {ask.script.model}, stream={ask.stream}: {wrong}")

    async def _tell(self) -> None:
        progress, found, began = SoakProgress(), self.found, time.monotonic()
        try:
            while True:
                progress.say(
                    f"{time.monotonic() - began:.0f} of {self._rules.seconds:g} s: "
                    f"{sum(found.endings.values())} answers, {found.restarts} restarts, "
                    f"{sum(found.violations.values())} violations"
                )
                await asyncio.sleep(TOLD_SECONDS)
        finally:
            progress.end()

    async def _restart_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(self._rules.restart_seconds)
            killed = time.monotonic_ns()
            self._outages.append((killed, float("inf")))
            self._backend.kill()
            await asyncio.sleep(DOWN_SECONDS)
            await asyncio.to_thread(self._backend.start)
            self._outages[-1] = (killed, time.monotonic_ns() + RECOVERY_NS)
            self.found.restarts += 1

    async def _look_for_leaks(self, files: int) -> None:
        if streams := await streams_left(self._backend.url):
            self.found.wrong(f"leaked: the backend speaks {streams} streams that nobody hears")
        self._backend.kill()  # and with it what the proxy keeps in its pool
        if leaked := await leaked_files(self._proxy.pid, files):
            self.found.wrong(f"leaked: {leaked} more open files than before")
        if counted := await still_counted(self._proxy.url, KEY):
            self.found.wrong(f"leaked: {counted:g} requests in the metrics that are none")
        await asyncio.to_thread(self._backend.start)

    def _judge_figures(self) -> None:
        rules, watch, found = self._rules, self.found.watch, self.found
        assert watch is not None
        if not self._proxy.is_running:
            found.wrong("the proxy died")
        if UNHANDLED in self._proxy.lines():
            found.wrong("the proxy logged an unhandled exception")
        if watch.growth > rules.growth_mib:
            found.wrong(f"memory: {watch.growth:.1f} MiB more, after the warm-up")
        if watch.late_ms > rules.lag_ms:
            found.wrong(f"the event loop is late: p99 {watch.late_ms:.0f} ms")
        for surface, kind in product(PATHS, ("text", "tool")):
            if not found.done[f"{surface} {kind}"]:
                found.wrong(f"nothing was completed: {surface} {kind}")


async def soak(rules: Rules) -> Findings:
    with targets.backend() as backend, targets.proxy(backend.url) as proxy:
        return await Soak(rules, backend, proxy).run()


# ── the command ──


def summary(rules: Rules, found: Findings) -> str:
    watch = found.watch
    assert watch is not None
    answers = sum(found.endings.values())
    endings = ", ".join(f"{times} {ending}" for ending, times in found.endings.most_common())
    lines = [
        f"{rules.seconds:g} s, {rules.streams} clients, {found.restarts} restarts of the backend",
        f"answers      {answers}: {endings}",
        *described(watch),
        f"violations   {sum(found.violations.values()) or 'none'}",
    ]
    lines += (f"  {times} × {what}" for what, times in found.violations.most_common(MOST_EXAMPLES))
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__)
    parser.add_argument("--seconds", type=float, help="How long. [60; 600 with --nodes; 3600 for an hour]")
    parser.add_argument("--streams", type=int, default=100, help="Clients at a time. [100; 1000 at most]")
    parser.add_argument(
        "--restart-seconds", type=float, default=10, help="Between kills of the backend. [10]"
    )
    parser.add_argument(
        "--growth-mib", type=float, default=12, help="Memory that may be added after the warm-up. [12]"
    )
    parser.add_argument(
        "--lag-ms", type=float, default=50, help="p99 of the event loop's lag, beyond the machine's. [50]"
    )
    parser.add_argument(
        "--state", action="store_true", help="Soaks what is kept instead: stored_soak.py tells how."
    )
    parser.add_argument(
        "--nodes",
        action="store_true",
        help="Soaks three nodes on one PostgreSQL instead: nodes_soak.py tells how.",
    )
    parser.add_argument(
        "--kill-seconds",
        type=float,
        default=20,
        help="With --state and --nodes: between kills of a worker, or a node. [20]",
    )
    wanted = parser.parse_args()
    ends_when_asked()
    try:
        told, violations = _chosen(wanted)(wanted)
    except KeyboardInterrupt:
        return INTERRUPTED
    sys.stdout.write(f"{told}\n")
    return 1 if violations else 0


Told = tuple[str, Counter[str]]


def _chosen(wanted: argparse.Namespace) -> Callable[[argparse.Namespace], Told]:
    if wanted.nodes:
        return _of_nodes
    return _of_what_is_kept if wanted.state else _of_all_else


def _of_all_else(wanted: argparse.Namespace) -> Told:
    rules = Rules(
        wanted.seconds or 60, wanted.streams, wanted.restart_seconds, wanted.growth_mib, wanted.lag_ms
    )
    found = uvloop.run(soak(rules))
    return summary(rules, found), found.violations


def _of_what_is_kept(wanted: argparse.Namespace) -> Told:
    rules = stored_soak.Rules(wanted.seconds or 60, kill_seconds=wanted.kill_seconds)
    found = uvloop.run(stored_soak.soak(rules))
    return stored_soak.summary(rules, found), found.promises.broken


def _of_nodes(wanted: argparse.Namespace) -> Told:
    seconds = wanted.seconds or 600
    rules = nodes_soak.Rules(
        seconds, kill_seconds=wanted.kill_seconds, outages=nodes_soak.outages(seconds, wanted.kill_seconds)
    )
    found = uvloop.run(nodes_soak.soak(rules))
    return nodes_soak.summary(rules, found), found.violations


if __name__ == "__main__":
    sys.exit(main())
