"""What a Chat Completions request means."""

from typing import Any

from proxy.core import jsontext
from tests.contract.cases import Received

Json = dict[str, Any]


def received(body: Json) -> Received:
    messages = body["messages"]
    content = [part for message in messages if message["role"] == "user" for part in _parts(message)]
    calls = [call for message in messages for call in message.get("tool_calls", ())]
    names = {call["id"]: call["function"]["name"] for call in calls}
    details = [detail for message in messages for detail in message.get("reasoning_details", ())]
    wanted = body.get("response_format", {}).get("json_schema", {})
    return Received(
        texts=tuple(part["text"] for part in content if part["type"] == "text"),
        system=next((message["content"] for message in messages if message["role"] == "system"), None),
        attached=tuple(_attached(part) for part in content if part["type"] != "text"),
        tools=tuple(tool["function"]["name"] for tool in body.get("tools", ())),
        choice=_choice(body.get("tool_choice", "auto")),
        calls=tuple(
            (call["function"]["name"], jsontext.strict(call["function"]["arguments"])) for call in calls
        ),
        results=tuple(
            (names[message["tool_call_id"]], message["content"])
            for message in messages
            if message["role"] == "tool"
        ),
        proofs=(
            *(detail["signature"] for detail in details if detail.get("signature")),
            *(
                call["extra_content"]["google"]["thought_signature"]
                for call in calls
                if "extra_content" in call
            ),
        ),
        schema=wanted.get("schema"),
        limit=body.get("max_tokens"),
    )


def _parts(message: Json) -> list[Json]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _attached(part: Json) -> str:
    match part:
        case {"type": "image_url"}:
            return part["image_url"]["url"]
        case {"type": "input_audio", "input_audio": {"format": kind, "data": data}}:
            return f"data:audio/{kind};base64,{data}"
        case _:
            return part["file"]["file_data"]


def _choice(choice: Any) -> str:
    return choice if isinstance(choice, str) else choice["function"]["name"]
