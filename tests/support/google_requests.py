"""What the tests of this dialect ask: turns in, a body out, read by the strict server; replies in, deltas out."""

from dataclasses import replace
from typing import Any

from proxy.core import jsontext
from proxy.core.backends.profiles import PROFILES
from proxy.core.dialects.google.decode import GoogleDecoder
from proxy.core.dialects.google.encode import encode
from proxy.core.dialects.google.signatures import as_extras
from proxy.core.ledger import Ledger
from proxy.core.model import Reasoning, Request, ToolName, ToolSpec, Turn
from proxy.core.profile import BackendProfile
from proxy.core.tools.prepare import prepare
from tests.scripted.google_rules import refuse_body
from tests.support import chat_requests
from tests.support.chat_requests import user

GOOGLE = PROFILES["google"]
NEW, OLD = "gemini-3.5-flash", "gemini-2.5-flash"
SIGNATURE = "U0lH"


def google(**changes: Any) -> BackendProfile:
    return replace(GOOGLE, **changes)


def tool_spec(name: str = "f", **fields: Any) -> ToolSpec:
    return ToolSpec(ToolName(name), **fields)


def signed(value: str = SIGNATURE, place: Any = "call", model: str = NEW, text: str = "") -> Reasoning:
    return Reasoning(text, as_extras(value, place, model))


def body_of(
    *turns: Turn,
    on: BackendProfile = GOOGLE,
    model: str = NEW,
    ledger: Ledger | None = None,
    **request: Any,
) -> dict[str, Any]:
    ledger = ledger or Ledger()
    asked = Request(model, list(turns) or [user("Hi")], **request)
    sent = jsontext.dumps(encode(asked, prepare(asked, on, ledger), on, model, ledger))
    body = jsontext.strict(sent)
    refuse_body(body, model)
    assert isinstance(body, dict)
    return body


def contents_of(*turns: Turn, **how: Any) -> list[dict[str, Any]]:
    contents = body_of(*turns, **how)["contents"]
    assert isinstance(contents, list)
    return contents


class Decoded(chat_requests.Decoded):
    def __init__(self, ledger: Ledger | None = None, **profile: Any) -> None:
        super().__init__(ledger)
        self.decoder = GoogleDecoder(
            self.deltas.append, google(**profile), self.ledger, self.kept.append, model=NEW, stamp="17"
        )


def chunk(*parts: Any, finish: Any = None, **more: Any) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})], **more}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"text": words, **more}


def function_call(name: Any = "f", args: Any = None, id: Any = None, **more: Any) -> dict[str, Any]:
    told = {"name": name, "args": args, "id": id}
    return {"functionCall": {key: value for key, value in told.items() if value is not None}, **more}
