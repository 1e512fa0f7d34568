"""Runs that say much, and many who follow them (T63, T68, U44), on files, with the program itself."""

import re
from pathlib import Path

import aiohttp
import orjson

from tests.load.process import cpu_seconds, memory_mib
from tests.support.background import FollowingClients, Talker, id_of
from tests.support.programs import served
from tests.support.proxies import Proxy
from tests.support.sockets import DONE, END, HEAD, Line, ScriptedBackend, finish, text, usage

PIECES = 100_000
AT_ONCE = 100
MOST_MIB = 104
"""The events alone are 26 MiB, once; their reader has them in pieces, and the allocator keeps some."""
LAST = b"data: [DONE]\n\n"


async def much(line: Line) -> None:
    await line.request()
    line.send(HEAD)
    for first in range(0, PIECES, AT_ONCE):
        line.send(*(text(f"w{number:05} ") for number in range(first, first + AT_ONCE)))
        await line.drained()
    line.send(finish(), usage(), DONE, END)


def numbers_of(stream: bytes) -> list[int]:
    """Without reading all of it as JSON."""
    return [int(found) for found in re.findall(rb'"sequence_number":(\d+)', stream)]


async def test_t68_a_hundred_thousand_events(backend: ScriptedBackend, tmp_path: Path) -> None:
    """They come and come again, dense and in order. Who resumes near the end does not make anybody read them all."""
    backend.plays(much)
    async with (
        served(backend, tmp_path, store={"url": f"sqlite:{tmp_path / 'state'}"}) as process,
        aiohttp.ClientSession() as session,
    ):
        before = memory_mib(process.pid)
        url = f"{process.url}/v1/responses"
        body = {"model": "m", "input": "Hi", "background": True, "stream": True}
        async with session.post(url, json=body) as response:
            live = await response.read()
        assert numbers_of(live) == list(range(PIECES + 9))
        assert live.endswith(LAST)
        id = orjson.loads(live.partition(b"data: ")[2].partition(b"\n\n")[0])["response"]["id"]

        async def resumed(after: int) -> tuple[bytes, float]:
            began = cpu_seconds(process.pid)
            async with session.get(f"{url}/{id}?stream=true&starting_after={after}") as response:
                assert response.status == 200
                return await response.read(), cpu_seconds(process.pid) - began

        blocks = live.split(b"\n\n")
        whole, cost = await resumed(0)
        assert whole == b"\n\n".join(blocks[1:])
        end, cost_of_end = await resumed(99_990)
        assert end == b"\n\n".join(blocks[99_991:])
        assert cost_of_end < cost / 3
        assert memory_mib(process.pid) - before < MOST_MIB


async def test_t63_one_of_ten_who_follow_does_not_read(backend: ScriptedBackend, proxy: Proxy) -> None:
    """U44: each from a place of his own. Nine have all of it while the tenth has not begun to read; he is late, and
    not lost."""
    talker = Talker()
    backend.plays(talker)
    async with FollowingClients(proxy) as watchers:
        first = await watchers.begin()
        await talker.says(*(text("x") for _ in range(50)))
        id = id_of(await first.until("response.output_text.delta"))
        idle = await watchers.resume(id, starting_after=3)
        others = [await watchers.resume(id, starting_after=5 * number) for number in range(8)]
        for _ in range(60):
            await talker.says(text("y" * 50_000))
        await talker.ends()
        whole = await first.all()
        for number, other in enumerate(others):
            assert await other.all() == whole[5 * number + 1 :]
        assert await idle.all() == whole[4:]
