"""An engine without sockets: its backend is a script, and whoever asks it gets a recording."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import orjson

from proxy import configured
from proxy.core.backends.post import Post
from proxy.core.ids import Mint
from proxy.core.masking.secrets import Secrets
from proxy.core.policy.quota import Quota
from proxy.core.policy.retry import RetryRules
from proxy.core.surfaces.chat.surface import ChatSurface
from proxy.core.surfaces.framing import SSE
from proxy.core.surfaces.memory.reasoning import ReasoningMemory
from proxy.core.tenants import ANYBODY
from proxy.settings.root import Settings
from proxy.shell.engine import Engine
from proxy.shell.http.transport import Page, Take, Timeouts
from proxy.shell.in_flight import Caller
from proxy.shell.limits.tenant_limits import TenantLimits
from proxy.shell.offload.processes import CheckProcesses
from proxy.shell.offload.threads import WorkThreads
from proxy.shell.ops.logs import make_log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.ops.tasks import Tasks
from proxy.shell.request_reading import RequestReading
from proxy.shell.secret_mask import SecretMask
from proxy.shell.under_way import UnderWay
from tests.support.proxies import LogLines

STREAM = {"Content-Type": "text/event-stream"}
NOTHING_THERE = Page(404, {}, b"{}")
MINT = Mint(lambda size: "0" * 2 * size)


def now() -> float:
    return 1_700_000_000.0


CHAT = ChatSurface(MINT, now)
CALLER = Caller(ANYBODY, {}, "127.0.0.1")


class ScriptedExchange:
    """Answers with these pieces. The last may be a failure."""

    def __init__(self, pieces: Iterable[bytes | Exception], status: int = 200) -> None:
        self.status = status
        self.headers: Mapping[str, str] = STREAM if status == 200 else {}
        self.over: str | None = None
        self._pieces = list(pieces)

    async def read(self) -> bytes:
        await asyncio.sleep(0)
        if not self._pieces:
            return b""
        piece = self._pieces.pop(0)
        if isinstance(piece, Exception):
            raise piece
        return piece

    async def read_at_most(self, limit: int) -> bytes:
        return (await self.read())[:limit]

    async def push_to(self, take: Take) -> None:
        while self._pieces and isinstance(piece := self._pieces[0], bytes):
            self._pieces.pop(0)
            if not take(piece):
                return

    def begun(self) -> None:
        pass

    def finishing(self, so_it_seems: bool) -> None:
        pass

    def release(self) -> None:
        self.over = self.over or "released"

    def close(self) -> None:
        self.over = self.over or "closed"


class ScriptedTransport:
    """One exchange after the other, and no page."""

    def __init__(self, *exchanges: ScriptedExchange) -> None:
        self.posts: list[Post] = []
        self.bodies: list[Any] = []
        self._exchanges = list(exchanges)

    async def send(self, post: Post, timeouts: Timeouts) -> ScriptedExchange:
        self.posts.append(post)
        self.bodies.append(orjson.loads(post.body))
        return self._exchanges.pop(0)

    async def fetch(self, url: str, headers: Mapping[str, str], seconds: float) -> Page:
        return NOTHING_THERE


class Recorder:
    """A destination that nobody is connected to."""

    framing = SSE
    flows = True

    def __init__(self) -> None:
        self.request_id = "req_1"
        self.opened = False
        self.headers: dict[str, str] = {}
        self.likely: dict[str, str] = {}
        self.bytes_out = 0
        self.frames: list[bytes] = []
        self.emit: Callable[[bytes], None] = self.frames.append
        self.body: Any = None
        self.ending: str | None = None

    def start_timers(self, event: Callable[[], None] | None = None, every: float | None = None) -> None:
        pass

    async def answer(self, body: dict[str, Any]) -> None:
        self.opened, self.body, self.ending = True, body, "answered"

    def push(self) -> bool:
        self.opened = True
        return True

    async def flush(self) -> None:
        self.opened = True

    async def finish(self, *, broken: bool = False) -> None:
        self.opened, self.ending = True, "broken" if broken else "finished"

    def stop(self) -> None:
        pass

    def abort(self) -> None:
        self.ending = "aborted"


@asynccontextmanager
async def engine_on(transport: ScriptedTransport, log: LogLines) -> AsyncIterator[Engine]:
    lines = make_log(format="json", stream=log.stream)
    threads, check_processes = WorkThreads(lines), CheckProcesses()
    clock = asyncio.get_running_loop().time
    settings = Settings.model_validate(
        {"backend": {"url": "https://backend.example/v1", "profile": "default"}}
    )
    breakers = configured.breakers_of(settings, clock)
    backends = configured.backends_of(settings, breakers, transport, threads, clock, lines)
    metrics, tasks = Metrics(breakers, ()), Tasks(lines)
    try:
        yield Engine(
            limits=TenantLimits(Quota(clock), None, lambda: 1, lambda: True, tasks, metrics),
            reading=RequestReading(backends, ReasoningMemory(), threads),
            mint=MINT,
            now=now,
            clock=clock,
            chance=lambda: 0.0,
            retries=RetryRules(),
            threads=threads,
            check_processes=check_processes,
            metrics=metrics,
            secret_mask=SecretMask(Secrets(())),
            under_way=UnderWay(),
            log=lines,
        )
    finally:
        threads.close()
        await check_processes.close()


def said(*words: str) -> list[bytes]:
    """A whole stream of Chat Completions that says these words, piece by piece."""
    deltas = [{"choices": [{"index": 0, "delta": {"content": word}}]} for word in words]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return [b"data: %b\n\n" % orjson.dumps(each) for each in (*deltas, end)] + [b"data: [DONE]\n\n"]
