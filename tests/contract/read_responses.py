"""What a Responses request means."""

from typing import Any

from proxy.core import jsontext
from tests.contract.cases import Received

Json = dict[str, Any]


def received(body: Json) -> Received:
    items = body["input"]
    content = [part for item in items if item.get("role") == "user" for part in _parts(item)]
    calls = [item for item in items if item["type"] == "function_call"]
    names = {call["call_id"]: call["name"] for call in calls}
    return Received(
        texts=tuple(part["text"] for part in content if part["type"] == "input_text"),
        system=body.get("instructions"),
        attached=tuple(_attached(part) for part in content if part["type"] != "input_text"),
        tools=_callable(body),
        choice=_choice(body.get("tool_choice", "auto")),
        calls=tuple((call["name"], jsontext.strict(call["arguments"])) for call in calls),
        results=tuple(
            (names[item["call_id"]], item["output"])
            for item in items
            if item["type"] == "function_call_output"
        ),
        proofs=tuple(item["encrypted_content"] for item in items if item["type"] == "reasoning"),
        schema=body.get("text", {}).get("format", {}).get("schema"),
        limit=body.get("max_output_tokens"),
    )


def _parts(item: Json) -> list[Json]:
    content = item["content"]
    return [{"type": "input_text", "text": content}] if isinstance(content, str) else content


def _attached(part: Json) -> str:
    match part:
        case {"type": "input_image"}:
            return part["image_url"]
        case {"type": "input_audio", "input_audio": {"format": kind, "data": data}}:
            return f"data:audio/{kind};base64,{data}"
        case _:
            return part["file_data"]


def _callable(body: Json) -> tuple[str, ...]:
    """The tools that may be called: those that are declared, or some of them."""
    choice = body.get("tool_choice")
    among = choice["tools"] if isinstance(choice, dict) and "tools" in choice else body.get("tools", ())
    return tuple(tool["name"] for tool in among)


def _choice(choice: Any) -> str:
    if isinstance(choice, str):
        return choice
    return str(choice["mode"] if choice["type"] == "allowed_tools" else choice["name"])
