"""What a Gemini request means."""

from typing import Any

from proxy.core import jsontext
from tests.contract.cases import Received

Json = dict[str, Any]

UNPROVEN = "skip_thought_signature_validator"
"""Gemini's own word for a call whose proof nobody has. That each call has one or the other, the server checks."""


def received(body: Json) -> Received:
    contents = body["contents"]
    parts = [part for content in contents for part in content["parts"]]
    by_user = [part for content in contents if content["role"] == "user" for part in content["parts"]]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    names = {call["id"]: call["name"] for call in calls}
    results = [part["functionResponse"] for part in parts if "functionResponse" in part]
    attached = [part["inlineData"] for part in parts if "inlineData" in part]
    instructions = body.get("systemInstruction", {"parts": []})["parts"]
    wanted = body.get("generationConfig", {})
    return Received(
        texts=tuple(part["text"] for part in by_user if "text" in part),
        system="\n".join(part["text"] for part in instructions) or None,
        attached=tuple(f"data:{data['mimeType']};base64,{data['data']}" for data in attached),
        tools=tuple(each["name"] for tool in body.get("tools", ()) for each in tool["functionDeclarations"]),
        choice=_choice(body.get("toolConfig", {}).get("functionCallingConfig", {"mode": "AUTO"})),
        calls=tuple((call["name"], call["args"]) for call in calls),
        results=tuple((names[result["id"]], _text(result["response"])) for result in results),
        failed=tuple(result["name"] for result in results if "error" in result["response"]),
        proofs=tuple(
            part["thoughtSignature"] for part in parts if part.get("thoughtSignature", UNPROVEN) != UNPROVEN
        ),
        schema=wanted.get("responseJsonSchema"),
        limit=wanted.get("maxOutputTokens"),
    )


def _choice(config: Json) -> str:
    if names := config.get("allowedFunctionNames"):
        (name,) = names
        return name
    return {"AUTO": "auto", "VALIDATED": "auto", "ANY": "required", "NONE": "none"}[config["mode"]]


def _text(response: Json) -> str:
    """What a tool returned as a JSON object, Gemini gets as one."""
    (output,) = response.values()
    return output if isinstance(output, str) else jsontext.compact(output)
