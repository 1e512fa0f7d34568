"""Meters and queues, as they are asked of the server."""

from collections.abc import Collection, Mapping, Sequence

from proxy.shell.stores.meters import cost, most_missing
from proxy.shell.stores.protocol import Granted, Ticket, Wait, Want
from proxy.shell.stores.redis.limit_scripts import BURY, ENTER, LEAVE, NAMES, QUEUE, RANKS, TAKE
from proxy.shell.stores.redis.names import Names
from proxy.shell.stores.redis.script import Clocks, Script, ScriptCall
from proxy.shell.stores.redis.server import RedisServer


class RedisMeters:
    def __init__(self, server: RedisServer, names: Names, clocks: Clocks) -> None:
        self._server = server
        self._names = names
        self._script = Script(clocks.steady, TAKE)

    async def take(self, tenant: str, wants: Sequence[Want]) -> Granted | Wait:
        refused, lacks = await self._ask(
            tenant, wants, [most_missing(want) if want.units else "" for want in wants]
        )
        full_in = [float(lack) for lack in lacks]
        return Wait(full_in) if refused else Granted(full_in)

    async def charge(self, tenant: str, wants: Sequence[Want]) -> None:
        await self._ask(tenant, wants, [""] * len(wants))

    async def _ask(
        self, tenant: str, wants: Sequence[Want], most: Sequence[float | str]
    ) -> tuple[int, list[bytes]]:
        arguments = [
            each for want, limit in zip(wants, most, strict=True) for each in (want.unit, cost(want), limit)
        ]
        call = ScriptCall(self._script, (self._names.meters(tenant),), tuple(arguments))
        ((refused, lacks),) = await self._server.run([call], again=False)
        return refused, lacks


class RedisQueues:
    """Each queue is asked by itself, for each may lie on another shard; where a worker has tickets is asked before."""

    def __init__(self, server: RedisServer, names: Names, clocks: Clocks) -> None:
        self._server = server
        self._names = names
        self._known = Script(NAMES)
        self._enter = Script(clocks.steady, QUEUE, ENTER, RANKS)
        self._ranks = Script(clocks.steady, QUEUE, RANKS)
        self._leave = Script(LEAVE)
        self._bury = Script(clocks.steady, QUEUE, BURY)

    async def enter(self, worker: str, tickets: Sequence[Ticket]) -> Mapping[Ticket, int]:
        entering = _by_queue(tickets)
        queues = await self._queues_of(worker, entering)
        return await self._placed(self._enter, worker, {queue: entering.get(queue, ()) for queue in queues})

    async def ranks(self, worker: str) -> Mapping[Ticket, int]:
        return await self._placed(self._ranks, worker, dict.fromkeys(await self._queues_of(worker, ()), ()))

    async def _queues_of(self, worker: str, entering: Collection[str]) -> list[str]:
        """Those in which the worker has tickets, with those that it enters now."""
        calls = [ScriptCall(self._known, (self._names.queues_of(worker),), tuple(entering))]
        if entering:
            calls.append(ScriptCall(self._known, (self._names.queues,), tuple(entering)))
        return _decoded((await self._server.run(calls))[0])

    async def _placed(
        self, script: Script, worker: str, queues: Mapping[str, Sequence[str]]
    ) -> Mapping[Ticket, int]:
        calls = [
            ScriptCall(script, self._names.queue(queue), (worker, *ids)) for queue, ids in queues.items()
        ]
        answers = await self._server.run(calls) if calls else []
        return {
            Ticket(queue, id.decode()): rank
            for queue, answer in zip(queues, answers, strict=True)
            for id, rank in zip(answer[::2], answer[1::2], strict=True)
        }

    async def leave(self, tickets: Sequence[Ticket]) -> None:
        leaving = _by_queue(tickets)
        calls = [
            ScriptCall(self._leave, self._names.queue(queue), tuple(ids)) for queue, ids in leaving.items()
        ]
        if calls:
            await self._server.run(calls)

    async def sweep(self, most: int) -> int:
        """Tickets of the dead; all else vanishes by itself."""
        swept = 0
        (queues,) = await self._server.run([ScriptCall(self._known, (self._names.queues,))])
        for queue in _decoded(queues):
            if swept < most:
                call = ScriptCall(self._bury, self._names.queue(queue), (most - swept,))
                swept += (await self._server.run([call]))[0]
        return swept


def _by_queue(tickets: Sequence[Ticket]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for queue, id in tickets:
        found.setdefault(queue, []).append(id)
    return found


def _decoded(names: Sequence[bytes]) -> list[str]:
    return [name.decode() for name in names]
