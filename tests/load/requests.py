"""One request in the words of each surface, and what its answer said."""

from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from proxy.core import jsontext
from tests.load.script import Script

Surface = Literal["responses", "chat", "native"]
PATHS: dict[Surface, str] = {
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
    "native": "/native/v1/chat/completions",
}
KEY = "sk-load"
INSTRUCTIONS = "You are a coding agent. " * 20
PROSE = 'The quick brown fox jumps over the lazy dog; "quoted" and a\nnew line. ' * 12
PARAMETERS = {
    "type": "object",
    "properties": {"s": {"type": "string", "description": "What to do. " * 6}},
    "required": ["s"],
    "additionalProperties": False,
}
OTHER_TOOLS = 19
"""Beside the one that is called, where there is a history: as agents have."""


@dataclass(frozen=True)
class Ask:
    script: Script
    surface: Surface = "responses"
    stream: bool = True
    history: int = 0
    """Items of a conversation so far, a quarter of them calls."""
    stores: bool = False

    def request(self, url: str) -> bytes:
        """As it is sent."""
        body = jsontext.dumps(self._body())
        head = (
            f"POST {PATHS[self.surface]} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\nAuthorization: Bearer {KEY}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    def _body(self) -> dict[str, Any]:
        names = ["load_tool"] if self.script.kind == "tool" or self.history else []
        names += [f"other_{number}" for number in range(OTHER_TOOLS if self.history else 0)]
        body: dict[str, Any] = {"model": self.script.model, "stream": self.stream}
        if self.surface == "responses":
            body |= {"instructions": INSTRUCTIONS, "input": self._items(), "store": self.stores}
            tools = [{"type": "function", **_tool(name), "strict": False} for name in names]
        else:
            body["messages"] = self._messages()
            tools = [{"type": "function", "function": _tool(name)} for name in names]
            if self.stream:
                body["stream_options"] = {"include_usage": True}
        return body | ({"tools": tools} if tools else {})

    def _items(self) -> list[Any]:
        items: list[Any] = []
        for number in range(self.history // 4):
            call_id = f"call_{number}"
            said = {"type": "output_text", "text": PROSE, "annotations": []}
            items += [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": PROSE}]},
                {"type": "message", "role": "assistant", "content": [said]},
                {"type": "function_call", "call_id": call_id, "name": "load_tool", "arguments": _ARGUMENTS},
                {"type": "function_call_output", "call_id": call_id, "output": PROSE},
            ]
        return [*items, {"type": "message", "role": "user", "content": "Go on."}]

    def _messages(self) -> list[Any]:
        messages: list[Any] = [{"role": "system", "content": INSTRUCTIONS}]
        for number in range(self.history // 4):
            function = {"name": "load_tool", "arguments": _ARGUMENTS}
            call = {"id": f"call_{number}", "type": "function", "function": function}
            messages += [
                {"role": "user", "content": PROSE},
                {"role": "assistant", "content": PROSE, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": call["id"], "content": PROSE},
            ]
        return [*messages, {"role": "user", "content": "Go on."}]

    def text_of(self, body: bytes) -> str:
        """All that was said, by whatever server in this surface's words, without a look at the order."""
        read = _said_in_items if self.surface == "responses" else _said_in_choices
        if not self.stream:
            return read(jsontext.loads(body))
        said = (block.partition(b"data: ")[2] for block in body.split(b"\n\n"))
        return "".join(read(jsontext.loads(data)) for data in said if data.startswith(b"{"))

    def ended(self, body: bytes) -> bool:
        """Did that server say that it was well?"""
        if self.surface == "responses":
            return b'"response.completed"' in body if self.stream else b'"completed"' in body
        return body.endswith(b"data: [DONE]\n\n") if self.stream else b'"finish_reason"' in body


_ARGUMENTS = jsontext.compact({"s": PROSE})
_DELTAS = ("response.output_text.delta", "response.function_call_arguments.delta")


def _tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": "Does what it says. " * 10, "parameters": PARAMETERS}


def _said_in_items(said: dict[str, Any]) -> str:
    if "output" in said:
        parts = [part for item in said["output"] for part in item.get("content") or [item]]
        return "".join(part.get("text") or part.get("arguments") or "" for part in parts)
    return said["delta"] if said["type"] in _DELTAS else ""


def _said_in_choices(said: dict[str, Any]) -> str:
    text = ""
    for choice in said.get("choices", ()):
        told = choice.get("message") or choice["delta"]
        text += told.get("content") or ""
        for call in told.get("tool_calls") or ():
            arguments = call["function"].get("arguments") or ""
            text += arguments if isinstance(arguments, str) else jsontext.compact(arguments)
    return text
