"""Clients that send their whole conversation again, with calls in it, and backends that think before each call."""

from typing import Any

import aiohttp

from tests.support.sockets import ScriptedBackend, delta, finish, reply

Json = dict[str, Any]

TOOL: Json = {
    "type": "function",
    "function": {
        "name": "f",
        "description": "Does it.",
        "parameters": {"type": "object", "properties": {}},
    },
}


def call(id: str) -> Json:
    return {"index": 0, "id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}


def thinking(thought: str = "Hm.", id: str = "call_1") -> bytes:
    calls = delta(reasoning_content=thought) + delta(tool_calls=[call(id)])
    return reply(calls).replace(finish("stop"), finish("tool_calls"))


class WholeTalk:
    """A conversation of a client that sends all of it each time, to whichever process."""

    def __init__(self, path: str, **fields: Any) -> None:
        self._path = path
        self._fields = {"model": "m", "tools": [TOOL]} | fields
        self.messages: list[Json] = [{"role": "user", "content": "Hi"}]

    async def ask(self, url: str) -> tuple[int, Json]:
        connector = aiohttp.TCPConnector(force_close=True)
        body = self._fields | {"messages": self.messages}
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            session.post(f"{url}{self._path}", json=body) as response,
        ):
            answer = await response.json()
        if response.status == 200:
            message = answer["choices"][0]["message"]
            self.messages.append({"role": "assistant", "tool_calls": message.get("tool_calls", [])})
            self.messages += [
                {"role": "tool", "tool_call_id": each["id"], "content": "done"}
                for each in message.get("tool_calls", [])
            ]
        return response.status, answer


def chat() -> WholeTalk:
    return WholeTalk("/v1/chat/completions")


def native(conversation_id: str = "c-1") -> WholeTalk:
    return WholeTalk("/native/v1/chat/completions", conversation_id=conversation_id)


def thoughts(backend: ScriptedBackend) -> list[str | None]:
    """Those that the backend was told last, one for each message with calls."""
    messages = backend.received[-1].json["messages"]
    return [each.get("reasoning_content") for each in messages if each.get("tool_calls")]


def ids(backend: ScriptedBackend) -> list[str]:
    messages = backend.received[-1].json["messages"]
    return [each["id"] for message in messages for each in message.get("tool_calls", ())]
