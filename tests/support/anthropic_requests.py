"""Short words for what the tests of the Messages API ask: turns in, one body out, read by the strict server."""

from dataclasses import replace
from typing import Any

from proxy.core import jsontext
from proxy.core.backends.profiles import PROFILES
from proxy.core.dialects.anthropic.encode import encode
from proxy.core.ledger import Ledger
from proxy.core.model import Reasoning, Request, Turn
from proxy.core.profile import BackendProfile
from proxy.core.tools.prepare import prepare
from tests.scripted.anthropic import check_body
from tests.support.chat_requests import user

ANTHROPIC = PROFILES["anthropic"]
MODEL = "claude-opus-5-5"
SIGNATURE = "U0lH"


def on(**changes: Any) -> BackendProfile:
    return replace(ANTHROPIC, **changes)


def sent(
    *turns: Turn,
    model: str = MODEL,
    profile: BackendProfile = ANTHROPIC,
    ledger: Ledger | None = None,
    **request: Any,
) -> str:
    """The very text."""
    ledger = ledger or Ledger()
    asked = Request("m", list(turns) or [user("Hi")], **request)
    body = encode(asked, prepare(asked, profile, ledger), profile, model, ledger)
    text = jsontext.compact(body)
    headers = {name.lower(): value for name, value in profile.headers.items()}
    check_body(jsontext.loads(text), headers["anthropic-version"], headers.get("anthropic-beta", ""))
    return text


def body_of(*turns: Turn, **how: Any) -> dict[str, Any]:
    body: dict[str, Any] = jsontext.loads(sent(*turns, **how))
    return body


def messages_of(*turns: Turn, **how: Any) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = body_of(*turns, **how)["messages"]
    return messages


def said(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def thought(text: str = "Hm.", signature: str = SIGNATURE) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": signature}


def reasoning(*blocks: dict[str, Any], model: str = MODEL, text: str = "Hm.") -> Reasoning:
    return Reasoning(
        text,
        {"anthropic": {"blocks": [{"model": model, "block": block} for block in blocks or (thought(),)]}},
    )
