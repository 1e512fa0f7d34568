"""The whole proxy before a scripted Messages API, over real sockets: names that it refuses go out and come back."""

from typing import Any

import aiohttp
import pytest

from proxy.core import jsontext
from proxy.core.schemas.aliases import aliased
from tests.contract.client import proxy
from tests.scripted import anthropic
from tests.scripted.say import Say, SayCall
from tests.scripted.serving import serving

ODATA = {
    "type": "object",
    "properties": {"$filter": {"type": "string"}, "$top": {"type": "integer"}},
    "required": ["$filter"],
    "additionalProperties": False,
}
ALIASES = {name: alias for alias, name in aliased(ODATA)[1].items()}
TOOL = {"type": "function", "function": {"name": "list", "description": "Lists.", "parameters": ODATA}}
ARGUMENTS = {"$filter": "price lt 1.50", "$top": 3}
MODEL = "claude-sonnet-4-6"


def with_aliases(arguments: dict[str, Any]) -> dict[str, Any]:
    return {ALIASES[name]: value for name, value in arguments.items()}


async def asked(url: str, path: str, body: dict[str, Any]) -> Any:
    async with aiohttp.ClientSession() as session, session.post(url + path, json=body) as response:
        return jsontext.strict(await response.read())


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/native/v1/chat/completions"])
async def test_a_property_that_may_not_be_called_so_has_another_name_there_only(path: str) -> None:
    """The check of arguments knows it by its own name, and the history tells it by the alias."""
    call = Say(calls=[SayCall("c1", "list", with_aliases(ARGUMENTS))])
    ask = {
        "model": MODEL,
        "tools": [TOOL],
        "messages": [{"role": "user", "content": "Hi"}],
        "request_options": {"validate_tool_arguments": True},
    }
    async with (
        serving(anthropic.PROVIDER, call, Say(text="ok")) as backend,
        proxy({"url": backend.url, "profile": "anthropic"}) as url,
    ):
        answer = await asked(url, path, ask)
        message = answer["choices"][0]["message"]
        (told,) = message["tool_calls"]
        said = told["function"]["arguments"]
        assert (jsontext.strict(said) if isinstance(said, str) else said) == ARGUMENTS
        result = {"role": "tool", "tool_call_id": told["id"], "content": "none"}
        history = [*ask["messages"], {"role": "assistant", "tool_calls": [told]}, result]
        extension = {"_proxy": answer["_proxy"]} if "_proxy" in answer else {}
        await asked(url, path, ask | {"messages": history} | extension)
    first, second = (each.body for each in backend.requests)
    assert set(first["tools"][0]["input_schema"]["properties"]) == set(ALIASES.values())
    assert second["messages"][1]["content"][-1]["input"] == with_aliases(ARGUMENTS)
