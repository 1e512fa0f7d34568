"""A parent that goes while its only child is under way: the child has its whole history (T35, T37, U48)."""

import asyncio
from itertools import count
from typing import Any

import pytest

from tests.support.background import FollowingClients, Talker, deleted, ended, got, id_of
from tests.support.proxies import Proxy, StartProxy, final
from tests.support.sockets import PROMPTLY, Line, ScriptedBackend, reply, text
from tests.support.state import asked, refused, sent
from tests.support.websockets import talking

WHOLE = [("user", "One?"), ("assistant", "One."), ("user", "Two?"), ("assistant", "Two."), ("user", "Three?")]


@pytest.fixture(params=["memory:", "sqlite"])
async def proxy(request: pytest.FixtureRequest, start_proxy: StartProxy, tmp_path: Any) -> Proxy:
    url = request.param if request.param == "memory:" else f"sqlite:{tmp_path / 'state'}"
    return await start_proxy(store={"url": url})


async def once(line: Line) -> None:
    """On a connection of its own."""
    await line.request()
    line.send(reply(text("One.")))
    line.close()


async def grandchild(backend: ScriptedBackend, proxy: Proxy, child: str) -> list[tuple[str, Any]]:
    """What the backend is told by who continues the child."""
    backend.answers(reply(text("Three.")))
    answer = await asked(proxy, input="Three?", previous_response_id=child)
    assert answer["previous_response_id"] == child
    return sent(backend)


async def kept(proxy: Proxy, id: str) -> dict[str, Any]:
    """What is kept of it, as soon as it is."""
    async with asyncio.timeout(PROMPTLY):
        for pause in count():
            status, found = await got(proxy, id)
            if status == 200:
                break
            await asyncio.sleep(min(0.01 * pause, 0.1))
    return dict(found)


async def listed(proxy: Proxy, id: str) -> list[dict[str, Any]]:
    url = f"{proxy.url}/v1/responses/{id}/input_items?order=asc"
    async with proxy.session.get(url) as response:
        found: list[dict[str, Any]] = (await response.json())["data"]
        return found


async def test_a_child_in_the_foreground_owns_its_history(backend: ScriptedBackend, proxy: Proxy) -> None:
    talker = Talker()
    backend.plays(once, talker)
    parent = await asked(proxy, input="One?")
    before = await listed(proxy, parent["id"])

    async def meanwhile() -> None:
        await talker.says(text("Two."))
        assert (await deleted(proxy, parent["id"]))[0] == 200
        await talker.ends()

    streamed, _ = await asyncio.gather(
        proxy.stream(input="Two?", previous_response_id=parent["id"]), meanwhile()
    )
    child = final(streamed)
    assert (child["store"], child["previous_response_id"]) == (True, parent["id"])
    assert await refused(proxy, previous_response_id=parent["id"]) == (
        400, "previous_response_not_found", "previous_response_id",
    )  # fmt: skip
    assert await grandchild(backend, proxy, child["id"]) == WHOLE
    found = await listed(proxy, child["id"])
    assert found[:1] == before
    assert [item["id"] for item in found[1:2]] == [parent["output"][0]["id"]]
    assert len({item["id"] for item in found}) == 3
    by_id = {"type": "item_reference", "id": parent["output"][0]["id"]}
    backend.answers(reply(text("Four.")))
    await asked(proxy, input=[by_id])
    assert ("assistant", "One.") in sent(backend)


async def test_a_child_that_its_client_left_owns_it_too(backend: ScriptedBackend, proxy: Proxy) -> None:
    """What it had said itself was not finished."""
    talker = Talker()
    backend.plays(once, talker)
    parent = await asked(proxy, input="One?")
    async with proxy.post(
        {"model": "m", "stream": True, "input": "Two?", "previous_response_id": parent["id"]}
    ) as response:
        await talker.says(text("Two."))
        head = (await response.content.readuntil(b'"delta":"Two."')).decode()
        assert (await deleted(proxy, parent["id"]))[0] == 200
    child = head.split('"id":"')[1].split('"')[0]
    found = await kept(proxy, child)
    assert found["status"] == "cancelled"
    assert await grandchild(backend, proxy, child) == [*WHOLE[:2], ("user", "Two?\n\nThree?")]


async def test_a_child_in_the_background_owns_it_too(backend: ScriptedBackend, proxy: Proxy) -> None:
    """Its record is there before its backend is asked, and the parent is held from then on; until then it may go."""
    talker = Talker()
    backend.plays(once, talker)
    parent = await asked(proxy, input="One?")
    async with FollowingClients(proxy) as watchers:
        watching = await watchers.begin(input="Two?", previous_response_id=parent["id"])
        child = id_of(await watching.until("response.created"))
        assert (await deleted(proxy, parent["id"]))[0] == 200
        await talker.says(text("Two."))
        await talker.ends()
        await ended(proxy, child)
    assert await grandchild(backend, proxy, child) == WHOLE


async def test_what_only_a_connection_remembered_is_kept_with_the_child_that_is_stored(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """T26: its parent was never stored; who continues the child has the whole history over HTTP, too."""
    backend.answers(reply(text("One.")), reply(text("Two.")))
    async with talking(proxy.url) as talk:
        parent = await talk.turn(input="One?", store=False)
        child = await talk.turn(input="Two?", previous_response_id=parent["id"])
    assert child["store"] is True
    assert await grandchild(backend, proxy, child["id"]) == WHOLE
