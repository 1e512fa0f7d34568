"""Three proxies as on three machines: ports of their own, one database, and a balancer before them."""

import asyncio
import hashlib
import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.load.limited import Tenant
from tests.load.process import Server, python
from tests.load.requests import KEY
from tests.support import postgres
from tests.support.processes import free_port
from tests.support.programs import toml

DURABLE = ("fsync=off", "full_page_writes=off")
"""Nobody cuts the power here, but the server is killed: what it has acknowledged must be with the kernel."""


class Node(Server):
    """On a port that it keeps when it is started anew."""

    def __init__(
        self, folder: Path, backend: str, store: str, tenants: Sequence[Tenant], program: str
    ) -> None:
        port = free_port()
        config = folder / f"{port}.toml"
        config.write_text(toml(settings(port, backend, store, tenants)), encoding="utf-8")
        super().__init__(*python(program, "serve", "--config", str(config)))
        self.address = f"http://127.0.0.1:{port}"
        self.name = name_of(port)


def name_of(port: int) -> str:
    """By which its backend knows it."""
    return f"node-{port}"


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def settings(port: int, backend: str, store: str, tenants: Sequence[Tenant]) -> dict[str, object]:
    return {
        "server": {"port": port, "signing_key": "signed-alike-by-all-the-nodes-there-are"},
        "store": {"url": store},
        "background": {"limit": 1000},
        "backend": {"url": f"{backend}/v1", "profile": "vllm", "key": name_of(port)},
        "metrics": {"open": True},
        "tenants": {
            "load": {"keys": [digest(KEY)]},
            **{each.name: {"keys": [digest(each.key)], **each.settings()} for each in tenants},
        },
    }


@contextmanager
def started(nodes: Iterable[Node]) -> Iterator[None]:
    """None of them outlives the block."""
    begun: list[Node] = []
    try:
        for node in nodes:
            node.start()
            begun.append(node)
        yield
    finally:
        for node in begun:
            node.kill()
            node.log.close()


class Database:
    """PostgreSQL, as its operators and its failures treat it."""

    def __init__(self) -> None:
        self._server = postgres.Server(options=DURABLE)

    @property
    def url(self) -> str:
        return self._server.url()

    async def make(self) -> None:
        await asyncio.to_thread(self._server.make)
        self._server.start()
        await self._server.ready()

    async def stop(self, *, orderly: bool) -> None:
        """In order: who is connected is cut off. Else as by a crash: what may vanish has vanished."""
        how = signal.SIGINT if orderly else signal.SIGQUIT
        await asyncio.to_thread(self._server.stop, how)

    async def start(self) -> None:
        self._server.start()
        await self._server.ready()

    def freeze(self) -> None:
        self._server.freeze()

    def thaw(self) -> None:
        self._server.thaw()

    async def remove(self) -> None:
        await asyncio.to_thread(self._server.remove)
