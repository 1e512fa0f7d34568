"""What is kept, and what a connection remembers, behind one `previous_response_id` (T26)."""

import pytest

from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import ScriptedBackend, answer, reply, text
from tests.support.state import asked, items, made, sent
from tests.support.store_failing import Failing
from tests.support.websockets import talking

UNKNOWN = (400, "previous_response_not_found")


async def test_t26_a_stored_response_goes_from_one_transport_to_the_other(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    backend.answers(reply(text("One")), reply(text("Two")), reply(text("Three")))
    first = await asked(proxy)
    async with talking(proxy.url) as talk:
        second = await talk.turn(input="More", previous_response_id=first["id"])
    third = await asked(proxy, input="Last", previous_response_id=second["id"])
    assert second["store"] is third["store"] is True
    assert [content for _, content in sent(backend)] == ["Hi", "One", "More", "Two", "Last"]


async def test_t26_what_is_not_stored_stays_with_its_connection(proxy: Proxy) -> None:
    first = await asked(proxy, store=False)
    async with talking(proxy.url) as talk, talking(proxy.url) as other:
        assert await talk.refused(previous_response_id=first["id"]) == UNKNOWN
        mine = await talk.turn(store=False)
        assert await other.refused(previous_response_id=mine["id"]) == UNKNOWN
        assert (await talk.turn(previous_response_id=mine["id"], store=False))["status"] == "completed"


@pytest.mark.parametrize("stored", [True, False])
async def test_t26_a_failed_continuation_leaves_what_is_stored(
    backend: ScriptedBackend, start_proxy: StartProxy, stored: bool
) -> None:
    proxy = await start_proxy(retries={"attempts": 1})
    backend.answers(reply(text("One")), answer(400, {"error": {"message": "No."}}), reply(text("Two")))
    async with talking(proxy.url) as talk:
        first = await talk.turn(store=stored)
        assert (await talk.refused(previous_response_id=first["id"]))[0] == 400
        if stored:
            assert (await talk.turn(previous_response_id=first["id"]))["status"] == "completed"
        else:
            assert await talk.refused(previous_response_id=first["id"]) == UNKNOWN


async def test_a_conversation_is_the_same_on_a_socket(backend: ScriptedBackend, proxy: Proxy) -> None:
    id = await made(proxy)
    async with talking(proxy.url) as talk:
        turn = await talk.turn(conversation=id)
        assert turn["conversation"] == {"id": id}
        assert len(await items(proxy, id)) == 2
        await talk.turn(input="More", conversation=id)
    assert sent(backend) == [("user", "Hi"), ("assistant", "Hello"), ("user", "More")]


async def test_a_reference_is_found_beside_what_the_connection_remembers(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    elsewhere = await asked(proxy, input="Elsewhere")
    async with talking(proxy.url) as talk:
        first = await talk.turn(input="Here", store=False)
        both = [
            {"type": "item_reference", "id": elsewhere["output"][0]["id"]},
            {"role": "user", "content": "More"},
        ]
        await talk.turn(input=both, previous_response_id=first["id"])
    assert [content for _, content in sent(backend)][-1] == "More"
    assert str(sent(backend)).count("Hello") == 2


async def test_t83_a_store_that_is_down_is_told_in_a_frame(failing: Failing, start_proxy: StartProxy) -> None:
    proxy = await start_proxy()
    first = await asked(proxy)
    failing.down = {"chain"}
    async with talking(proxy.url) as talk:
        assert await talk.refused(previous_response_id=first["id"]) == (503, "storage_error")
        assert (await talk.turn())["status"] == "completed"
