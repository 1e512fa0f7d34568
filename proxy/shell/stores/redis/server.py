"""One server of Redis or Valkey: a limit on every wait, and which of its errors mean that it cannot be used.

The client's own retries are off: with them a server that is frozen holds up each command for 9 s. A command whose
connection was lost is repeated once if it may be done twice, and one that was not answered in time never: it may be
done later, when the server wakes.
"""

from collections.abc import Sequence
from typing import Any, Final

from redis import exceptions as errors
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from proxy.shell.stores.protocol import StoreDown, StoreUnreadable
from proxy.shell.stores.redis.script import Script, ScriptCall

CONNECTIONS: Final = 4
SCANNED: Final = 500
"""Keys that the server looks at in one step."""

DOWN: Final = (errors.ConnectionError, errors.TimeoutError, errors.ResponseError, errors.InvalidResponse)

REFUSED: Final = (errors.AuthenticationError, errors.AuthorizationError, errors.NoPermissionError)
SENT_ON: Final = (errors.MovedError, errors.AskError, errors.ClusterCrossSlotError)
WRONG: Final = "ERR"
"""Begins errors that would come again."""
NOT_LEADING: Final = "READONLY"
"""Stands in what a server says that others have taken over from."""

REFUSES: Final = (
    "live.url: the server lets nobody in like this: {words}. See to the user, the password and the rights"
)
IS_CLUSTER: Final = (
    "live.url names a node of a cluster, which sends its clients on to other nodes. That is not supported: name a"
    " server without cluster mode, or a proxy that stands before the cluster"
)
CANNOT: Final = (
    "live.url: the server cannot do what is needed: {words}. Needed is Redis 6.2 or Valkey, or newer"
)
NO_REDIS: Final = "live.url: what answers there is no Redis and no Valkey"

PROBE: Final = Script(
    "redis.call('TIME')\n"
    "local done = redis.pcall('XADD', KEYS[1], '*', 'f', 0)\n"
    "if type(done) == 'table' then return done end\n"
    "return redis.call('EXPIRE', KEYS[1], 1)\n"
)
"""Tries what is needed, and says what the server said."""


class RedisServer:
    def __init__(self, url: str, seconds: float) -> None:
        """`seconds`: for a connection, for a free one, and for each answer."""
        self._pool = BlockingConnectionPool.from_url(
            url.replace("valkey", "redis", 1) if url.startswith("valkey") else url,
            max_connections=CONNECTIONS,
            timeout=seconds,
            socket_timeout=seconds,
            socket_connect_timeout=seconds,
            retry=Retry(NoBackoff(), 0),
            protocol=2,
            driver_info=None,
        )
        self._client = Redis(connection_pool=self._pool)

    async def open(self, probe: str) -> str:
        """Tries a key. Raises StoreUnreadable if the server is there, and does not let us do what we need to. Says
        which keys it deletes when its memory is full; nothing if it does not tell that."""
        try:
            await self._execute("EVAL", PROBE.text, 1, probe)
        except DOWN as failure:
            raise await self._down(failure, unusable=True) from failure
        return await self._eviction()

    async def _eviction(self) -> str:
        try:
            facts: dict[str, object] = await self._execute("INFO", "memory")
        except DOWN:
            return ""
        return str(facts.get("maxmemory_policy", ""))

    async def run(self, calls: Sequence[ScriptCall], *, again: bool = True) -> list[Any]:
        """Returns the answers to all calls, asked in one message. `again`: may they be done twice?"""
        try:
            try:
                return await self._run(calls)
            except errors.ConnectionError:
                await self._leave()
                if not again:
                    raise
                return await self._run(calls)
        except DOWN as failure:
            raise await self._down(failure) from failure

    async def _run(self, calls: Sequence[ScriptCall]) -> list[Any]:
        answers = await self._ask([_command("EVALSHA", call.script.digest, call) for call in calls])
        unknown = [n for n, answer in enumerate(answers) if isinstance(answer, errors.NoScriptError)]
        if unknown:  # nothing of them is done
            in_full = [_command("EVAL", calls[n].script.text, calls[n]) for n in unknown]
            for n, answer in zip(unknown, await self._ask(in_full), strict=True):
                answers[n] = answer
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    async def _ask(self, commands: Sequence[Sequence[Any]]) -> list[Any]:
        """Errors are among the answers."""
        if len(commands) == 1:
            try:
                return [await self._execute(*commands[0])]
            except errors.NoScriptError as failure:
                return [failure]
        async with self._client.pipeline(transaction=False) as pipeline:
            for command in commands:
                pipeline.execute_command(*command)
            answers: list[Any] = await pipeline.execute(raise_on_error=False)
        return answers

    async def _execute(self, *command: Any) -> Any:
        return await self._client.execute_command(*command)  # type: ignore[no-untyped-call]

    async def _down(self, failure: Exception, *, unusable: bool = False) -> StoreDown | StoreUnreadable:
        if NOT_LEADING in f"{getattr(failure, 'status_code', '')} {failure}":
            await self._leave()
        if unusable and (words := _unusable(failure)):
            return StoreUnreadable(words)
        return StoreDown(f"{type(failure).__name__}: {failure}")

    async def _leave(self) -> None:
        """The connections that are free: they are lost, too, or new ones may lead elsewhere."""
        await self._pool.disconnect(inuse_connections=False)

    async def erase(self, pattern: str) -> None:
        """Deletes all keys that match."""
        try:
            cursor: Any = 0
            while True:
                cursor, keys = await self._execute("SCAN", cursor, "MATCH", pattern, "COUNT", SCANNED)
                if keys:
                    await self._execute("UNLINK", *keys)
                if int(cursor) == 0:
                    return
        except DOWN as failure:
            raise await self._down(failure) from failure

    async def close(self) -> None:
        await self._client.aclose()
        await self._pool.aclose()


def _command(verb: str, script: str, call: ScriptCall) -> tuple[Any, ...]:
    return verb, script, len(call.keys), *call.keys, *call.arguments


def _unusable(failure: BaseException) -> str:
    """Why the server cannot be used, now and later; nothing if it may come to its senses."""
    if isinstance(failure.__cause__, errors.RedisError):  # what was said when it connected
        return _unusable(failure.__cause__)
    if isinstance(failure, REFUSED):
        return REFUSES.format(words=failure)
    if isinstance(failure, SENT_ON):
        return IS_CLUSTER
    if isinstance(failure, errors.InvalidResponse):
        return NO_REDIS
    if isinstance(failure, errors.ResponseError) and failure.status_code == WRONG:
        return CANNOT.format(words=failure)
    return ""
