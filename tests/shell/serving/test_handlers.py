"""What answers behind the paths that are no plain request of a model: compaction and models."""

import pytest

from tests.support.asking import refused
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import DONE, HEAD, ScriptedBackend, answer, finish, reply, text


async def test_a_conversation_is_summed_up_and_goes_on_from_there(
    proxy: Proxy, backend: ScriptedBackend
) -> None:
    backend.answers(reply(text("We met.")), reply(text("Again.")))
    asked = {"model": "m", "input": [{"role": "user", "content": "Hi"}], "prompt_cache_key": "k"}
    async with proxy.session.post(f"{proxy.url}/v1/responses/compact", json=asked) as response:
        assert response.status == 200
        compacted = await response.json()
    assert compacted["object"] == "response.compaction"
    assert isinstance(compacted["usage"]["total_tokens"], int)
    await proxy.stream(input=[*compacted["output"], {"role": "user", "content": "Go on."}])
    first, second = (received.json["messages"] for received in backend.received)
    assert "summary" in first[-1]["content"]
    assert "We met." in second[0]["content"]


@pytest.mark.parametrize(
    ("body", "param"), [({"input": "Hi"}, "model"), ([], None), ({"model": "m"}, "input")]
)
async def test_a_compaction_of_nothing_is_refused(proxy: Proxy, body: object, param: str | None) -> None:
    async with proxy.session.post(f"{proxy.url}/v1/responses/compact", json=body) as response:
        assert (response.status, (await response.json())["error"]["param"]) == (400, param)


@pytest.mark.parametrize("order", ["sequential", "message_first"])
async def test_codex_gets_a_compaction_as_the_one_item_of_a_stream(
    start_proxy: StartProxy, order: str
) -> None:
    proxy = await start_proxy(clients={"item_order": order})
    items = [{"role": "user", "content": "Hi"}, {"type": "compaction_trigger"}]
    found = await proxy.stream(input=items)
    assert found[-2].name == "response.completed"
    assert [item["type"] for item in found[-2].data["response"]["output"]] == ["compaction"]


async def test_half_a_summary_is_a_failure(proxy: Proxy, backend: ScriptedBackend) -> None:
    backend.answers(answer(200, HEAD + text("We") + finish("length") + DONE))
    asked = {"model": "m", "input": "Hi"}
    async with proxy.session.post(f"{proxy.url}/v1/responses/compact", json=asked) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (502, "upstream_incomplete")


async def test_attack_25_v10_models(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    backend.answers(answer(200, {"data": [{"id": "org/qwen", "created": 7, "owned_by": "org"}]}))
    proxy = await start_proxy(backend={"models": {"gpt-5": "org/qwen"}})
    async with proxy.session.get(f"{proxy.url}/v1/models") as response:
        listed = await response.json()
    one = {"object": "model", "created": 7, "owned_by": "org"}
    assert listed == {"object": "list", "data": [{"id": "gpt-5"} | one, {"id": "org/qwen"} | one]}
    async with proxy.session.get(f"{proxy.url}/v1/models/org/qwen") as response:
        assert await response.json() == {"id": "org/qwen"} | one
    for codex in ({"originator": "codex_cli_rs"}, {"x-codex-window-id": "1"}):
        async with proxy.session.get(f"{proxy.url}/v1/models", headers=codex) as response:
            told = await response.json()
        assert [model["slug"] for model in told.pop("models")] == ["gpt-5", "org/qwen"]
        assert told == listed
    status, error, _ = await refused(proxy, "GET", "/v1/models/gpt-4")
    assert (status, error["code"]) == (404, "model_not_found")


async def test_what_is_configured_of_models_stands_in_the_catalog(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """Codex asks with its version."""
    backend.answers(answer(200, {"data": [{"id": "qwen"}]}))
    proxy = await start_proxy(
        models={"context_windows": {"*": 32768}, "reasoning_efforts": {"qwen": ["high"]}}
    )
    async with proxy.session.get(f"{proxy.url}/v1/models?client_version=0.169.0") as response:
        (model,) = (await response.json())["models"]
    assert model["context_window"] == 32768
    assert [level["effort"] for level in model["supported_reasoning_levels"]] == ["high"]
