"""What an Anthropic Messages request means."""

from typing import Any

from tests.contract.cases import Received

Json = dict[str, Any]
CHOICES = {"any": "required", "none": "none", "auto": "auto"}


def received(body: Json) -> Received:
    content = [block for message in body["messages"] for block in _blocks(message["content"])]
    by_user = [
        block
        for message in body["messages"]
        if message["role"] == "user"
        for block in _blocks(message["content"])
    ]
    calls = [block for block in content if block["type"] == "tool_use"]
    names = {call["id"]: call["name"] for call in calls}
    results = [block for block in content if block["type"] == "tool_result"]
    choice = body.get("tool_choice", {"type": "auto"})
    return Received(
        texts=tuple(block["text"] for block in by_user if block["type"] == "text"),
        system="\n".join(block["text"] for block in _blocks(body.get("system", []))) or None,
        attached=tuple(_data_url(block["source"]) for block in content if "source" in block),
        tools=tuple(tool["name"] for tool in body.get("tools", ())),
        choice=CHOICES.get(choice["type"]) or choice["name"],
        calls=tuple((call["name"], call["input"]) for call in calls),
        results=tuple((names[result["tool_use_id"]], _text(result["content"])) for result in results),
        failed=tuple(names[result["tool_use_id"]] for result in results if result.get("is_error")),
        proofs=tuple(block["signature"] for block in content if block["type"] == "thinking"),
        schema=body.get("output_config", {}).get("format", {}).get("schema"),
        limit=body["max_tokens"],
    )


def _blocks(content: Any) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(content: Any) -> str:
    return "".join(block["text"] for block in _blocks(content))


def _data_url(source: Json) -> str:
    return f"data:{source['media_type']};base64,{source['data']}"
