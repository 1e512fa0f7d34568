"""A store that fails: what needs it is refused, everything else is answered, and nobody is told what is not so."""

import asyncio
import fcntl
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from proxy.core import jsontext
from proxy.shell.runs import run as run_module
from proxy.shell.stores.memory.records import MemoryRecords
from tests.support.background import FollowingClients, Talker, begun, ended, got, id_of, until
from tests.support.proxies import Proxy, StartProxy, final, names
from tests.support.samples import samples
from tests.support.sockets import DONE, END, PROMPTLY, ScriptedBackend, finish, text, usage
from tests.support.state import asked, refused
from tests.support.store_failing import Failing

JSON = {"Content-Type": "application/json"}
EVERYTHING = {"get", "delete", "cancel", "begin", "create", "conversation", "entries", "page", "add", "drop"}
DOWN = (503, "storage_error", None)


async def readiness(proxy: Proxy) -> tuple[int, dict[str, str]]:
    async with proxy.session.get(f"{proxy.url}/readyz") as response:
        return response.status, await response.json()


@pytest.mark.parametrize("stream", [True, False])
async def test_t84_an_answer_that_could_not_be_kept_is_delivered_and_says_so(
    failing: Failing, start_proxy: StartProxy, stream: bool
) -> None:
    """T83, D12."""
    proxy = await start_proxy()
    failing.down = {"save"}
    answer = final(await proxy.stream()) if stream else await asked(proxy)
    assert (answer["status"], answer["store"]) == ("completed", False)
    assert "could not be stored" in answer["_proxy"]["warnings"][0]
    assert proxy.log.named("response_not_stored")[0]["reason"] == "store_down"
    failing.down = set()
    assert (await asked(proxy))["store"] is True
    assert [line.get("stored") for line in proxy.log.named("request")] == [None, True]


async def test_t83_what_needs_the_store_is_refused(
    backend: ScriptedBackend, failing: Failing, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy()
    first = await asked(proxy)
    failing.down = {"chain", "items", "lock", "entries"}
    calls = len(backend.received)
    needy: list[dict[str, Any]] = [
        {"previous_response_id": first["id"]},
        {"input": [{"type": "item_reference", "id": first["output"][0]["id"]}]},
        {"conversation": "conv_1"},
        {"conversation": "conv_1", "store": False},
    ]
    for body in needy:
        assert await refused(proxy, **body) == DOWN
        async with proxy.post({"model": "m", "input": "Hi"} | body) as response:
            assert response.headers["Retry-After"] == "1"
    assert len(backend.received) == calls


async def test_t83_nothing_begins_in_the_background(
    backend: ScriptedBackend, failing: Failing, start_proxy: StartProxy
) -> None:
    """U25: nor is a backend asked, or a place taken for ever."""
    proxy = await start_proxy(background={"limit": 1})
    failing.down = EVERYTHING
    for stream in (True, False):
        assert await refused(proxy, background=True, stream=stream) == DOWN
    assert backend.received == []
    failing.down = set()
    assert (await ended(proxy, (await begun(proxy))["id"]))["status"] == "completed"


async def test_t85_a_run_goes_on_while_the_store_is_away(
    backend: ScriptedBackend, failing: Failing, start_proxy: StartProxy
) -> None:
    """Its end is written when the store is back; until then it has none."""
    proxy = await start_proxy()
    talker = Talker()
    backend.plays(talker)
    run = await begun(proxy)
    await until(proxy, run["id"], "in_progress")
    await talker.says(text("Hello"))
    failing.down = {"finish"}
    before = failing.asked.count("finish")
    await talker.ends()
    async with asyncio.timeout(PROMPTLY):
        while failing.asked.count("finish") < before + 2:
            assert (await got(proxy, run["id"]))[1]["status"] == "in_progress"
            await asyncio.sleep(0.05)
    failing.down = set()
    done = await ended(proxy, run["id"])
    assert (done["status"], done["output"][0]["content"][0]["text"]) == ("completed", "Hello")


async def test_t85_viewers_are_told_of_an_end_that_cannot_be_written(
    backend: ScriptedBackend, failing: Failing, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "TRIES", 1)
    monkeypatch.setattr(run_module, "RETRY_SECONDS", 0.0)
    proxy = await start_proxy()
    talker = Talker()
    backend.plays(talker)
    async with FollowingClients(proxy) as watchers:
        watching = await watchers.begin()
        await talker.says(text("Hello"))
        id = id_of(await watching.until("response.output_text.delta"))
        failing.down = {"finish"}
        await talker.ends()
        found = await watching.all()
    assert names(found)[-2:] == ["response.failed", "done"]
    response = found[-2].data["response"]
    assert (response["status"], response["error"]["code"]) == ("failed", "storage_error")
    failing.down = set()
    assert (await got(proxy, id))[1]["status"] == "in_progress", "its lease does the rest"


async def test_u01_a_stateless_request_asks_the_store_nothing(
    failing: Failing, start_proxy: StartProxy
) -> None:
    """D10: also when all of it is down."""
    proxy = await start_proxy()
    before = list(failing.asked)
    failing.down = set(dir(failing.engine))
    assert (await asked(proxy, store=False))["store"] is False
    assert final(await proxy.stream(store=False))["status"] == "completed"
    async with proxy.session.post(
        f"{proxy.url}/v1/chat/completions",
        json={"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
    ) as response:
        assert response.status == 200
    assert [name for name in failing.asked if name not in ("beat", "sweep", "settle")] == [
        name for name in before if name not in ("beat", "sweep", "settle")
    ]


async def test_t89_what_is_too_large_is_delivered_and_not_kept(start_proxy: StartProxy) -> None:
    """U58."""
    proxy = await start_proxy(store={"max_response_mib": 1})
    body = jsontext.dumps({"model": "m", "input": "x" * (1 << 20)})
    async with proxy.session.post(f"{proxy.url}/v1/responses", data=BytesIO(body), headers=JSON) as response:
        answer = await response.json()
    assert answer["store"] is False
    assert "too large" in answer["_proxy"]["warnings"][0]
    assert (await refused(proxy, previous_response_id=answer["id"]))[1] == "previous_response_not_found"


async def test_t86_only_the_end_of_a_stream_waits_for_the_store(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the last of its text, which came with the end."""
    may_save, save = asyncio.Event(), MemoryRecords.save

    async def slow(*args: Any) -> Any:
        await may_save.wait()
        return await save(*args)

    monkeypatch.setattr(MemoryRecords, "save", slow)
    proxy = await start_proxy(server={"patience_seconds": 0.02})
    talker = Talker()
    backend.plays(talker)
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}) as response:
        await talker.says(text("Hel"))
        await response.content.readuntil(b'"delta":"Hel"')
        await talker.says(text("lo"), finish(), usage(), DONE, END)
        async with asyncio.timeout(1):
            await response.content.readuntil(b'"delta":"lo"')
        may_save.set()
        assert b"response.completed" in await response.read()


async def test_it_is_ready_whatever_the_store_does(start_proxy: StartProxy, tmp_path: Path) -> None:
    """A restart mends no store, and would end what needs none. Whoever looks is told, and the metrics say it too."""
    proxy = await start_proxy(store={"url": f"sqlite:{tmp_path}", "wait_seconds": 0.05})
    assert await readiness(proxy) == (200, {"status": "ready", "store": "up"})

    async def told(name: str) -> float:
        async with proxy.session.get(f"{proxy.url}/metrics") as response:
            return samples(await response.read())[name, "worker=0"]

    assert await told("store_up") == 1
    with (tmp_path / "state.db.lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as a frozen process would hold it
        while (await readiness(proxy))[1]["store"] == "up":
            assert (await asked(proxy))["store"] is False
        assert await readiness(proxy) == (200, {"status": "ready", "store": "down"})
        assert await told("store_up") == 0
        assert await told("store_waiting_seconds") > 0.05
        async with proxy.session.get(f"{proxy.url}/healthz") as response:
            assert response.status == 200
        assert (await asked(proxy, store=False))["status"] == "completed"
    while (await readiness(proxy))[1]["store"] == "down":
        await asked(proxy)
    async with asyncio.timeout(PROMPTLY):
        while await told("store_waiting_seconds"):
            assert await told("store_up") == 1, "what was given up is still being undone"


async def test_who_keeps_nothing_says_nothing_of_a_store(start_proxy: StartProxy) -> None:
    proxy = await start_proxy(store={"url": "off"})
    assert await readiness(proxy) == (200, {"status": "ready"})
