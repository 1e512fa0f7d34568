"""Does what is kept stay kept? `scripts/soak --state`.

Clients store, continue, resume, cancel and delete over two workers on one store, of which one is killed every few
seconds. In the end everything that was answered must be there with its content, every run must have exactly one end,
every conversation must take a turn, every chain must go on, and files and memory must be bounded. In the second half
always the younger worker is killed, so that the other one shows what a worker comes to that lives.
"""

import asyncio
import os
import signal
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from tests.load import targets
from tests.load.calls import Calls
from tests.load.keepers import SCRIPT, Keeper
from tests.load.process import Server, memory_mib, open_files, workers_of
from tests.load.progress import SoakProgress
from tests.load.promises import Audit, Promises, now
from tests.load.troubles import OnlyKills
from tests.load.watching import growth

SAMPLE_SECONDS = 1.0
FINISHING_SECONDS = 150.0
"""For what clients are about when it is over: some of them wait for the end of what a killed worker began."""
UNWANTED = ('"unhandled_exception"', '"task_failed"', "Traceback")
BYTES_PER_RESPONSE = 16 << 10
BYTES_OF_A_LOG = 80 << 20
"""That SQLite writes before its file: 64 MiB, and what one transaction adds."""
MOST_FILES = 200
MIB = 1 << 20
MOST_EXAMPLES = 10


@dataclass(frozen=True)
class Rules:
    seconds: float
    clients: int = 30
    kill_seconds: float = 20.0
    most_mib: float = 250.0
    growth_mib: float = 12.0
    """Of the worker that has lived the longest, in the second half of its life."""
    patience: float = 150.0
    """For what the dead have left: their leases, the time in which nobody buries, and the round of the sweeper."""
    program: str = "proxy"


@dataclass
class Found:
    promises: Promises = field(default_factory=Promises)
    endings: Counter[str] = field(default_factory=Counter)
    kills: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    workers: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    """The memory of each: seconds and MiB, up to the end of the load."""
    files: dict[str, int] = field(default_factory=dict)
    """Bytes, by name."""
    promised: str = ""

    @property
    def elder(self) -> list[tuple[float, float]]:
        """Of the worker that has lived the longest."""
        return max(self.workers.values(), key=len)

    @property
    def growth(self) -> float:
        return growth(self.elder[len(self.elder) // 2 :])


class StoredSoak:
    def __init__(self, rules: Rules, proxy: Server, folder: Path) -> None:
        self.found = Found()
        self._rules = rules
        self._proxy = proxy
        self._folder = folder
        self._over = False
        self._progress = SoakProgress()

    async def run(self) -> Found:
        found, promises = self.found, self.found.promises
        troubles = OnlyKills(lambda: found.kills)
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        async with aiohttp.ClientSession(connector=connector) as session:
            calls = Calls(session, self._proxy.url)
            async with asyncio.TaskGroup() as group:
                others = [group.create_task(self._kill()), group.create_task(self._sample(now()))]
                keepers = [
                    group.create_task(
                        Keeper(number, calls, promises, found.endings, troubles).live(lambda: self._over)
                    )
                    for number in range(self._rules.clients)
                ]
                await asyncio.sleep(self._rules.seconds)
                self._over = True
                others[0].cancel()
                _, late = await asyncio.wait(keepers, timeout=FINISHING_SECONDS)
                for keeper in late:
                    keeper.cancel()
                    promises.wrong("a client that never came to an end")
                found.promised = self._counted()
                await Audit(calls, promises, SCRIPT.model, self._rules.patience).run()
                others[1].cancel()
        self._progress.end()
        self._judge()
        return found

    async def _kill(self) -> None:
        """One worker after the other, and now and then the same twice: some live longer than a lease."""
        began = now()
        while True:
            await asyncio.sleep(self._rules.kill_seconds)
            workers = workers_of(self._proxy.pid)
            if len(workers) > 1:
                self.found.kills.append(now())
                is_late = now() - began > self._rules.seconds / 2
                victim = 1 if is_late else len(self.found.kills) * 2 // 3 % 2
                with suppress(ProcessLookupError):
                    os.kill(workers[victim], signal.SIGKILL)

    async def _sample(self, began: float) -> None:
        while True:
            with suppress(OSError, StopIteration):  # one of them was killed meanwhile
                self.found.memory.append(memory_mib(self._proxy.pid))
                for worker in () if self._over else workers_of(self._proxy.pid):
                    self.found.workers.setdefault(worker, []).append((now(), memory_mib(worker)))
            self._progress.say(
                f"{now() - began:.0f} of {self._rules.seconds:g} s and what the audit takes: "
                f"{sum(self.found.endings.values())} answers, {len(self.found.kills)} kills, "
                f"{sum(self.found.promises.broken.values())} violations"
            )
            await asyncio.sleep(SAMPLE_SECONDS)

    def _counted(self) -> str:
        made = self.found.promises
        turns = sum(map(len, made.chains))
        return (
            f"{len(made.kept)} responses to be found, {len(made.runs)} runs, {len(made.gone)} to be unknown, "
            f"{len(made.chains)} chains of {turns} turns, {len(made.conversations)} conversations"
        )

    def _judge(self) -> None:
        rules, found, wrong = self._rules, self.found, self.found.promises.wrong
        found.files = {path.name: path.stat().st_size for path in self._folder.iterdir()}
        if not self._proxy.is_running:
            wrong("the proxy died")
        for words in UNWANTED:
            if times := self._proxy.lines().count(words):
                wrong(f"{times} × {words} in the log")
        if max(found.memory) > rules.most_mib:
            wrong(f"memory: {max(found.memory):.0f} MiB")
        if found.growth > rules.growth_mib:
            wrong(f"memory: {found.growth:.1f} MiB more in the second half of a worker's life")
        for worker in workers_of(self._proxy.pid):
            if (files := open_files(worker)) > MOST_FILES:
                wrong(f"{files} open files")
        made = len(found.promises.kept) + len(found.promises.gone) + len(found.promises.runs)
        most = MIB + made * BYTES_PER_RESPONSE
        for name, size in found.files.items():
            if size > (BYTES_OF_A_LOG if name.endswith("-wal") else most):
                wrong(f"{name} has {size / MIB:.1f} MiB")


async def soak(rules: Rules) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "state")
        with targets.backend() as backend, targets.keeping(backend.url, store, rules.program) as proxy:
            return await StoredSoak(rules, proxy, store).run()


def summary(rules: Rules, found: Found) -> str:
    broken = found.promises.broken
    endings = ", ".join(f"{times} {ending}" for ending, times in found.endings.most_common())
    files = ", ".join(f"{name} {size / MIB:.1f}" for name, size in sorted(found.files.items()) if size)
    lines = [
        f"{rules.seconds:g} s, {rules.clients} clients, 2 workers, {len(found.kills)} kills",
        f"answers      {sum(found.endings.values())}: {endings}",
        f"promised     {found.promised}",
        f"memory       {found.memory[0]:.0f} MiB at first, {max(found.memory):.0f} at most, "
        f"{found.memory[-1]:.0f} in the end; of the worker that lived {found.elder[-1][0] - found.elder[0][0]:.0f} s "
        f"{found.elder[-1][1]:.0f}, {found.growth:+.1f} in the second half of it",
        f"files        {files} MiB",
        f"violations   {sum(broken.values()) or 'none'}",
    ]
    lines += (f"  {times} × {what}" for what, times in broken.most_common(MOST_EXAMPLES))
    return "\n".join(lines)
