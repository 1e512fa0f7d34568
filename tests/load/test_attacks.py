"""Nobody else waits for what an attacker sends, nor for what a backend says, and memory stays bounded.

Measured from other processes, so that nothing of the attacker's own work counts; a machine that is busy gets another
chance.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import uvloop

from proxy.core import jsontext
from tests.load.attacks import ATTACKS, JSON, MIB, RESPONSES, Attack
from tests.load.process import Server, memory_mib, python
from tests.load.watching import Watch, watching
from tests.support.sockets import scripted

LONGEST_MS = 250
"""What is promised for any request of up to 64 MiB, and any reply of up to 256 MiB."""
MEMORY_MIB = 900
"""Three quarters of `server.memory_mib` are for requests; and what the network holds of a reply."""
CHANCES = 3
PATIENCE_SECONDS = 20


async def attacked(attack: Attack, config: Path) -> Watch:
    async with scripted() as backend:
        backend.answers(attack.reply())
        settings = {"PROXY_CONFIG": str(config), "PROXY_BACKEND_URL": backend.url}
        with Server(*python("proxy", "serve", "--port", "0"), **settings) as server:
            bodies = attack.bodies()
            async with watching(server.url, server.pid) as watch:
                watch.memory.append((0, memory_mib(server.pid)))
                async with aiohttp.ClientSession() as session, asyncio.timeout(PATIENCE_SECONDS):
                    await asyncio.gather(*(_one(session, server.url, attack, body) for body in bodies))
                watch.memory.append((0, memory_mib(server.pid)))
            assert server.is_running
            assert "Traceback" not in server.lines()
            return watch


async def _one(session: aiohttp.ClientSession, url: str, attack: Attack, body: bytes) -> None:
    if attack.socket:
        async with session.ws_connect(url + RESPONSES, compress=15, max_msg_size=0) as socket:
            await socket.send_str(body.decode())
            assert jsontext.loads((await socket.receive()).data)["type"] == "error"
        return
    headers = {"Content-Type": JSON} | attack.headers
    with contextlib.suppress(aiohttp.ClientConnectionError):  # refused before all of it was sent
        async with session.request(
            attack.method, url + attack.path, data=_pieces(body), headers=headers
        ) as response:
            await response.read()
            assert response.status != 500


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(body), MIB):
        yield body[at : at + MIB]


@pytest.mark.parametrize("name", ATTACKS)
def test_nobody_waits_and_memory_is_bounded(name: str, tmp_path: Path) -> None:
    config = tmp_path / "proxy.toml"
    profile = f'profile = "{ATTACKS[name].profile}"'
    config.write_text(f"[server]\nmemory_mib = 1024\n[backend]\n{profile}\n", encoding="utf-8")
    for chance in range(CHANCES):
        watch = uvloop.run(attacked(ATTACKS[name], config))
        late = watch.lag["max_ms"] - watch.lag["machine_p99_ms"]
        if late < LONGEST_MS:
            break
        sys.stdout.write(f"\n{name}: {late:.0f} ms at chance {chance + 1}\n")
    assert late < LONGEST_MS
    assert watch.peak - watch.memory[0][1] < MEMORY_MIB
