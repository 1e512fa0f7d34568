"""Azure's URLs, over real sockets: of a resource or of one deployment, with a dated version or without."""

from typing import Any

import pytest

from tests.contract.client import proxy
from tests.contract.half_backend import half
from tests.contract.item_backend import Json, post

TOOL: Json = {"type": "function", "name": "clock", "parameters": {"type": "object", "properties": {}}}
GONE = {"error": {"code": "404", "message": "Resource not found"}}
NO_CHAT = {
    "error": {
        "code": "OperationNotSupported",
        "message": "The chatCompletion operation does not work with the specified model, gpt-5-codex. Please choose "
        "different model and try again. You can learn more about which models can be used with each operation here.",
    }
}
OF_ONE = "/openai/deployments/my%20gpt"
CHAT = "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21"
MODEL = "gpt-5.6"


async def ask(url: str, *tools: Json) -> str:
    body = {"model": MODEL, "input": "Hi", "tools": [*tools]}
    told = await post(url, "/v1/responses", body)
    return str(told["output"][0]["content"][0]["text"])


async def test_a_deployment_is_asked_by_responses_beside_it() -> None:
    """There its name is the model."""
    async with half("chat", "responses") as server:
        backend = {"url": f"{server.url}{OF_ONE}", "profile": "azure-deployment"}
        async with proxy(backend) as url:
            assert await ask(url, TOOL) == "Hello."
            assert await ask(url) == "Hello."
    assert server.urls == ["/openai/v1/responses", CHAT]
    assert server.bodies[0]["model"] == "my gpt"


async def test_a_resource_without_an_undated_version_is_asked_by_chat() -> None:
    async with half("chat", words=GONE) as server:
        backend = {"url": f"{server.url}{OF_ONE}", "profile": "azure-deployment"}
        async with proxy(backend) as url:
            for _ in range(2):
                assert await ask(url, TOOL) == "Hello."
    assert server.urls == ["/openai/v1/responses", CHAT, CHAT]


async def test_a_deployment_that_has_no_chat() -> None:
    async with half("responses", missing=400, words=NO_CHAT) as server:
        backend = {"url": f"{server.url}{OF_ONE}", "profile": "azure-deployment"}
        async with proxy(backend) as url:
            for _ in range(2):
                assert await ask(url) == "Hello."
    assert server.urls == [CHAT, *["/openai/v1/responses"] * 2]


@pytest.mark.parametrize(
    ("profile", "path", "asked"),
    [
        ("azure", "", "/openai/v1/responses"),
        ("azure", "/openai/v1", "/openai/v1/responses"),
        ("azure", "/openai/v1/responses?api-version=preview", "/openai/v1/responses?api-version=preview"),
        ("azure-responses", "/openai", "/openai/responses?api-version=2025-04-01-preview"),
        ("azure-responses", "/openai/responses?api-version=x", "/openai/responses?api-version=x"),
    ],
)
async def test_the_urls_of_a_resource(profile: str, path: str, asked: Any) -> None:
    async with half("responses") as server, proxy({"url": f"{server.url}{path}", "profile": profile}) as url:
        assert await ask(url, TOOL) == "Hello."
    assert server.urls == [asked]
    assert server.bodies[0]["model"] == MODEL
