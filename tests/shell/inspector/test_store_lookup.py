"""What the store has, by tenant and id (S24)."""

from typing import Any

import pytest

from proxy.core.tenants import digest
from proxy.shell.inspector.store_lookup import MOST, StoreLookup
from tests.support.inspecting import asked
from tests.support.proxies import Proxy, StartProxy, backend, start_proxy

__all__ = ["backend", "start_proxy"]

ANN, BOB, EYE = "key-of-ann-0123456789", "key-of-bob-0123456789", "key-of-the-inspector"
LOOK = {"Authorization": f"Bearer {EYE}"}


@pytest.fixture
async def proxy(start_proxy: StartProxy) -> Proxy:
    return await start_proxy(
        tenants={"ann": {"keys": [digest(ANN)]}, "bob": {"keys": [digest(BOB)]}},
        inspector={"keys": [digest(EYE)]},
    )


async def told(proxy: Proxy, **body: Any) -> str:
    async with proxy.post({"model": "m", "input": "Hi"} | body, Authorization=f"Bearer {ANN}") as response:
        id: str = (await response.json())["id"]
        return id


async def test_a_response_is_found_with_those_that_it_continues(proxy: Proxy) -> None:
    first = await told(proxy)
    second = await told(proxy, previous_response_id=first)
    found = await asked(proxy, "stored", LOOK, tenant="ann", id=second)
    assert [(entry["id"], entry["status"], entry["what"]) for entry in found["entries"]] == [
        (first, "completed", "m, 1 in, 1 out"),
        (second, "completed", "m, 1 in, 1 out"),
    ]
    assert not found["more"]


async def test_a_conversation_is_found_with_its_items(proxy: Proxy) -> None:
    mine = {"Authorization": f"Bearer {ANN}"}
    async with proxy.session.post(f"{proxy.url}/v1/conversations", json={}, headers=mine) as response:
        conversation = (await response.json())["id"]
    await told(proxy, conversation=conversation)
    found = await asked(proxy, "stored", LOOK, tenant="ann", id=conversation)
    assert [entry["what"] for entry in found["entries"]] == ["user message", "assistant message"]


async def test_nothing_of_what_was_said_is_shown(proxy: Proxy) -> None:
    """S06."""
    id = await told(proxy, input="my secret prompt")
    found = await asked(proxy, "stored", LOOK, tenant="ann", id=id)
    assert found["entries"][0]["text"] is None
    assert "Hello" not in str(found)


@pytest.mark.parametrize("tenant", ["bob", "", "nobody"])
async def test_another_tenants_is_as_unknown_as_what_never_was(proxy: Proxy, tenant: str) -> None:
    """S24."""
    id = await told(proxy)
    theirs = await asked(proxy, "stored", LOOK, tenant=tenant, id=id)
    nobodys = await asked(proxy, "stored", LOOK, tenant=tenant, id="resp_" + "0" * 48)
    assert theirs["error"]["code"] == "not_found"
    assert theirs == nobodys


async def test_a_tenant_may_not_look(proxy: Proxy) -> None:
    id = await told(proxy)
    found = await asked(proxy, "stored", {"Authorization": f"Bearer {ANN}"}, tenant="ann", id=id)
    assert found["error"]["code"] == "invalid_api_key"


async def test_a_long_chain_is_cut(proxy: Proxy) -> None:
    id = await told(proxy)
    for _ in range(MOST):
        id = await told(proxy, previous_response_id=id)
    found = await asked(proxy, "stored", LOOK, tenant="ann", id=id)
    assert (len(found["entries"]), found["more"]) == (MOST, True)


async def test_without_a_store_nothing_is_found() -> None:
    assert await StoreLookup(None, str, with_content=False).find("ann", "resp_1") is None
