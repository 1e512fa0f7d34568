"""What is kept stays in the store: the process itself holds nothing of what is over."""

import gc
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.support.background import FollowingClients, begun, cancelled, deleted, ended, id_of
from tests.support.garbage import counted
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import ScriptedBackend
from tests.support.state import asked, made
from tests.support.store_failing import Failing

WARM, ROUNDS, TRIES = 60, 30, 6
"""What is held grows in every try; what others in the process do, or a table of the interpreter, does not. Before the
first one, the inspector has as many requests as it keeps."""

BYTES_PER_ROUND = 800
"""Of eleven requests: less than one of their ids takes, each."""


async def everything(proxy: Proxy) -> None:
    """One of each, and what each leaves behind."""
    first = await asked(proxy)
    await proxy.stream(previous_response_id=first["id"])
    await asked(proxy, store=False)
    talk = await made(proxy)
    await asked(proxy, conversation=talk)
    run = await begun(proxy)
    await ended(proxy, run["id"])
    await cancelled(proxy, (await begun(proxy))["id"])
    async with FollowingClients(proxy) as watchers:
        found = await (await watchers.begin()).all()
        await (await watchers.resume(id_of(found), starting_after=3)).all()
    await deleted(proxy, first["id"])


async def test_nothing_grows_with_what_is_kept(
    backend: ScriptedBackend, start_proxy: StartProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.shell.runs.log_writer.PAUSE_SECONDS", 0.0)
    proxy = await start_proxy(store={"url": f"sqlite:{tmp_path}"}, logs={"level": "error"})

    async def after(rounds: int) -> int:
        for _ in range(rounds):
            await everything(proxy)
            backend.received.clear()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = await after(WARM)
        grown = []
        while not grown or (grown[-1] >= ROUNDS * BYTES_PER_ROUND and len(grown) < TRIES):
            now = await after(ROUNDS)
            grown.append(now - before)
            before = now
    finally:
        tracemalloc.stop()
    assert grown[-1] < ROUNDS * BYTES_PER_ROUND, grown


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_a_run_leaves_nothing_to_the_collector(proxy: Proxy, stream: bool) -> None:
    """Its record may be as large as a body."""

    async def one_of_each() -> None:
        await ended(proxy, await begun_run())
        await cancelled(proxy, await begun_run())

    async def begun_run() -> str:
        if not stream:
            return str((await begun(proxy))["id"])
        async with FollowingClients(proxy) as watchers:
            return id_of(await (await watchers.begin()).until("response.created"))

    await one_of_each()
    with counted() as left:
        await one_of_each()
    assert not {"proxy.shell.runs.run.Run", "proxy.core.stored.record.Record"} & {*left}


async def test_memory_as_the_store_has_its_limit(failing: Failing, start_proxy: StartProxy) -> None:
    """T90, whatever is asked of it: the oldest goes."""
    limit = 1 << 20
    proxy = await start_proxy(store={"url": "memory:", "max_gib": limit / (1 << 30)})
    assert failing.engine is not None
    answers: list[dict[str, Any]] = []
    for _ in range(150):
        answers.append(await asked(proxy, input="x" * 20_000))
        assert (await failing.engine.size()).bytes <= limit
    async with proxy.session.get(f"{proxy.url}/v1/responses/{answers[-1]['id']}") as response:
        assert response.status == 200
    async with proxy.session.get(f"{proxy.url}/v1/responses/{answers[0]['id']}") as response:
        assert response.status == 404
