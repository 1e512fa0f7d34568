"""Do many nodes stay one proxy? `scripts/soak --nodes`.

Clients store, continue, resume, cancel and delete over three nodes behind a balancer, others ask more than their limits
let through, and now and then a node is killed, and their database restarted twice, frozen and crashed. In the end all
that was answered must be there with its content, every run must have exactly one end, no model was asked twice, no
client waited longer than it had to, and what came through to the backend is what the limits let through.
"""

import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg

from proxy.core import jsontext
from tests.load.calls import Calls
from tests.load.counted import CALLS
from tests.load.keepers import Keeper
from tests.load.limited import Limited, Taken, Tenant, came_through, tenants
from tests.load.limits_held import Held, judged
from tests.load.nodes import Database, Node, started
from tests.load.process import Server, memory_mib, open_files, python
from tests.load.progress import SoakProgress
from tests.load.promises import Audit, Promises, now
from tests.load.script import Script
from tests.load.troubles import History, Kill, Outage
from tests.load.waiting import Waiting
from tests.load.watching import get
from tests.support.balancer import balancing

SCRIPT = Script(20, 40, 1)
MODEL_SECONDS = SCRIPT.pieces * SCRIPT.gap_ms / 1000
STORE_SECONDS = 2.0
"""`store.wait_seconds`, as it is by default."""
NODES = 3
VICTIMS = (0, 1, 0, 1, 2, 1, 2, 1, 0, 2, 0, 2)
"""Each of them lives longer than a lease now and then: else nobody could ever bury the dead."""
DOWN_SECONDS = 1.0
BACK_SECONDS = 10.0
"""From a kill to the moment at which the same node is there again: in the end all are."""
FINISHING_SECONDS = 150.0
"""For what clients are about when it is over: some of them wait for the end of what a killed node began."""
SAMPLE_SECONDS = 1.0
UNWANTED = ('"unhandled_exception"', '"task_failed"', "Traceback")
MOST_FILES = 200
MOST_CONNECTIONS = 4
"""`store.connections` of each node."""
MOST_EXAMPLES = 15
UNENDED = "select count(*) from turns where status in ('queued', 'in_progress') and gone = 0"
LOCKED = "select count(*) from conversations where locked_by <> ''"
CONNECTIONS = (
    "select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
)


@dataclass(frozen=True)
class Planned:
    """An outage of the database. A restart is in order, a crash is not; a frozen server accepts and says nothing."""

    at: float
    kind: str
    seconds: float


def outages(seconds: float, kill_seconds: float) -> tuple[Planned, ...]:
    """The last two have a node killed and started in them. The others are over before the next one is killed, so that
    all have told what they let in meanwhile."""
    soon, late = 2.5, kill_seconds - 2
    plan = (
        (0.2, "restart", 4, soon),
        (0.44, "freeze", 10, soon),
        (0.58, "restart", 4, late),
        (0.71, "crash", 8, late),
    )
    return tuple(
        Planned(seconds * part // kill_seconds * kill_seconds + after_a_kill, kind, length)
        for part, kind, length, after_a_kill in plan
    )


@dataclass(frozen=True)
class Rules:
    seconds: float = 600.0
    keepers: int = 18
    kill_seconds: float = 20.0
    outages: tuple[Planned, ...] = outages(600, 20)
    most_mib: float = 250.0
    patience: float = 180.0
    """For what the dead have left: their leases, the time in which nobody buries, and the round of the sweeper."""
    program: str = "proxy"
    limit: int = 1200
    """Of each tenant that has one."""

    @property
    def tenants(self) -> Sequence[Tenant]:
        return tenants(self.limit)


@dataclass
class Found:
    waiting: Waiting
    history: History = field(default_factory=History)
    promises: Promises = field(default_factory=Promises)
    endings: Counter[str] = field(default_factory=Counter)
    taken: dict[str, Taken] = field(default_factory=dict)
    held: list[Held] = field(default_factory=list)
    asked: int = 0
    memory: float = 0.0
    downs: int = 0
    """Lines of the log that say that the store does not answer."""
    promised: str = ""

    @property
    def violations(self) -> Counter[str]:
        found = self.promises.broken + Counter(self.waiting.too_long)
        for taken in self.taken.values():
            found += taken.wrong
        for held in self.held:
            found += Counter(held.wrong)
        return found


class NodesSoak:
    def __init__(
        self, rules: Rules, nodes: list[Node], database: Database, backend: Server, url: str
    ) -> None:
        history = History()
        self.found = Found(Waiting(MODEL_SECONDS, STORE_SECONDS, history.away_between), history)
        self._rules = rules
        self._nodes = nodes
        self._database = database
        self._backend = backend
        self._url = url
        self._over = False
        self._progress = SoakProgress()

    async def run(self) -> Found:
        found, promises = self.found, self.found.promises
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        async with aiohttp.ClientSession(connector=connector) as session:
            calls = Calls(session, self._url, found.waiting.note)
            began = now()
            async with asyncio.TaskGroup() as group:
                troubles = [group.create_task(self._kill(began)), group.create_task(self._disturb(began))]
                sampler = group.create_task(self._sample(began))
                clients = [group.create_task(each) for each in self._clients(calls, session)]
                await asyncio.sleep(self._rules.seconds)
                self._over = True
                ended = now()
                troubles[0].cancel()
                await asyncio.wait({troubles[1]}, timeout=FINISHING_SECONDS)
                _, late = await asyncio.wait(clients, timeout=FINISHING_SECONDS)
                for client in late:
                    client.cancel()
                    promises.wrong("a client that never came to an end")
                found.promised = self._counted()
                self._forget_what_a_kill_left()
                audit = Audit(calls, promises, SCRIPT.model, self._rules.patience, found.history.lost_between)
                await audit.run()
                sampler.cancel()
            self._progress.end()
        await self._judge_backend(began, ended)
        await self._judge_database()
        await self._judge_nodes()
        return found

    def _clients(self, calls: Calls, session: aiohttp.ClientSession) -> list[Any]:
        found = self.found
        made = [
            Keeper(number, calls, found.promises, found.endings, found.history, SCRIPT).live(self._is_over)
            for number in range(self._rules.keepers)
        ]
        for tenant in self._rules.tenants:
            taken = found.taken[tenant.name] = Taken()
            made += (
                Limited(number, tenant, session, self._url, taken, found.history, found.waiting.note).live(
                    self._is_over
                )
                for number in range(tenant.clients)
            )
        return made

    def _is_over(self) -> bool:
        return self._over

    # ── what is done to them ──

    async def _kill(self, began: float) -> None:
        for number in range(1, int((self._rules.seconds - BACK_SECONDS) // self._rules.kill_seconds) + 1):
            await asyncio.sleep(began + number * self._rules.kill_seconds - now())
            victim = self._nodes[VICTIMS[(number - 1) % len(VICTIMS)]]
            self.found.history.kills.append(Kill(now(), victim.name))
            await asyncio.to_thread(victim.kill)
            await asyncio.sleep(DOWN_SECONDS)
            await asyncio.shield(asyncio.to_thread(victim.start))

    async def _disturb(self, began: float) -> None:
        for planned in self._rules.outages:
            await asyncio.sleep(began + planned.at - now())
            outage = Outage(planned.kind, now())
            self.found.history.outages.append(outage)
            if planned.kind == "freeze":
                self._database.freeze()
                await asyncio.sleep(planned.seconds)
                self._database.thaw()
            else:
                await self._database.stop(orderly=planned.kind == "restart")
                await asyncio.sleep(planned.seconds)
                await self._database.start()
            outage.ended = now()

    async def _sample(self, began: float) -> None:
        while True:
            for node in self._nodes:
                with suppress(OSError, StopIteration):  # it was killed meanwhile
                    self.found.memory = max(self.found.memory, memory_mib(node.pid))
            self._progress.say(self._so_far(now() - began))
            await asyncio.sleep(SAMPLE_SECONDS)

    def _so_far(self, seconds: float) -> str:
        found, left = self.found, self._rules.seconds - seconds
        answers = sum(found.endings.values()) + sum(
            sum(taken.told.values()) for taken in found.taken.values()
        )
        state = f"{left:.0f} s to go" if left > 0 else "looking for all that was answered"
        return (
            f"{seconds:.0f} s, {state}: {answers} answers, {len(found.history.kills)} kills, "
            f"{len(found.history.outages)} outages, {sum(found.violations.values())} violations"
        )

    # ── what is judged when all is over ──

    def _counted(self) -> str:
        made = self.found.promises
        return (
            f"{len(made.kept)} responses to be found, {len(made.runs)} runs, {len(made.gone)} to be unknown, "
            f"{len(made.unkept)} told as not kept, {len(made.chains)} chains of {sum(map(len, made.chains))} turns, "
            f"{len(made.conversations)} conversations"
        )

    def _forget_what_a_kill_left(self) -> None:
        """What was told as not kept is to be unknown. Who was killed before the store was back could not see to it."""
        history, made = self.found.history, self.found.promises
        for id, began in made.unkept.items():
            over = max(
                (outage.ended for outage in history.outages if outage.began <= began + 5), default=began
            )
            if not any(began - 1 <= kill.at <= over + 5 for kill in history.kills):
                made.gone.append(id)

    async def _judge_backend(self, began: float, ended: float) -> None:
        found = self.found
        asked: list[tuple[int, str, str]] = jsontext.loads(await get(self._backend.url, "/asked"))
        found.asked = len(asked)
        times = Counter(said for _, said, _ in asked if said != "Last" and said[0].isdigit())
        for said, count in times.items():
            if count > 1:
                found.promises.wrong(f"the model was asked {count} times for one request")
                sys.stderr.write(f"asked {count} times: {said}\n")
        assert any(said.startswith(CALLS) for _, said, _ in asked)
        for tenant in self._rules.tenants:
            came = came_through(asked, tenant)
            found.held.append(judged(tenant, came, found.taken[tenant.name], found.history, began, ended))

    async def _judge_database(self) -> None:
        wrong = self.found.promises.wrong
        connection = await asyncpg.connect(self._database.url, timeout=10, command_timeout=10)
        try:
            if unended := await connection.fetchval(UNENDED):
                wrong(f"{unended} responses in the database never ended")
            if locked := await connection.fetchval(LOCKED):
                wrong(f"{locked} conversations in the database are locked")
            if (open := await connection.fetchval(CONNECTIONS)) > NODES * MOST_CONNECTIONS:
                wrong(f"{open} connections to the database")
        finally:
            await connection.close()

    async def _judge_nodes(self) -> None:
        found, wrong = self.found, self.found.promises.wrong
        if found.memory > self._rules.most_mib:
            wrong(f"memory: {found.memory:.0f} MiB for a node")
        for node in self._nodes:
            if not node.is_running:
                wrong("a node died")
                continue
            if (files := open_files(node.pid)) > MOST_FILES:
                wrong(f"{files} open files")
            if status := await asyncio.to_thread(node.stop):
                wrong(f"a node ended with {status} when it was asked to end")
            lines = node.lines()
            found.downs += lines.count('"event":"store_down"')
            for words in UNWANTED:
                if times := lines.count(words):
                    wrong(f"{times} × {words} in the log")


async def soak(rules: Rules) -> Found:
    database = Database()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.push_async_callback(database.remove)
        await database.make()
        backend = stack.enter_context(Server(*python("tests.load.counted")))
        nodes = [Node(folder, backend.url, database.url, rules.tenants, rules.program) for _ in range(NODES)]
        stack.enter_context(started(nodes))
        balancer = await stack.enter_async_context(balancing(*(node.address for node in nodes)))
        return await NodesSoak(rules, nodes, database, backend, balancer.url).run()


def summary(rules: Rules, found: Found) -> str:
    violations, history = found.violations, found.history
    endings = ", ".join(f"{times} {ending}" for ending, times in found.endings.most_common())
    told = "; ".join(
        f"{name}: " + ", ".join(f"{times} × {said}" for said, times in taken.told.most_common())
        for name, taken in found.taken.items()
    )
    outages = ", ".join(f"{outage.kind} of {outage.ended - outage.began:.0f} s" for outage in history.outages)
    lines = [
        f"{rules.seconds:g} s, {rules.keepers} clients and {sum(each.clients for each in rules.tenants)} with limits, "
        f"{NODES} nodes, {len(history.kills)} kills; of the database: {outages}",
        f"answers      {sum(found.endings.values())}: {endings}",
        f"promised     {found.promised}",
        f"the model    was asked {found.asked} times",
        f"limits       {told}",
        *(f"  {line}" for held in found.held for line in held.lines()),
        "waited",
        *(f"  {line}" for line in found.waiting.lines()),
        f"nodes        {found.memory:.0f} MiB at most; {found.downs} lines say that the store does not answer",
        f"violations   {sum(violations.values()) or 'none'}",
    ]
    lines += (f"  {times} × {what}" for what, times in violations.most_common(MOST_EXAMPLES))
    return "\n".join(lines)
