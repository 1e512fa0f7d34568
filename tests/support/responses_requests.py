"""What the tests of this dialect ask: turns in, a body out; events or a response in, deltas out."""

from dataclasses import replace
from typing import Any

from proxy.core import jsontext
from proxy.core.backends.profiles import PROFILES
from proxy.core.dialects.responses.decode import ResponsesDecoder
from proxy.core.dialects.responses.encode import encode
from proxy.core.events import Delta, EndDelta, Finish, FinishDelta
from proxy.core.extras import item_extras
from proxy.core.ledger import Ledger
from proxy.core.model import Reasoning, Request, ToolName, ToolSpec, Turn
from proxy.core.profile import BackendProfile
from proxy.core.tools.prepare import prepare
from tests.support import chat_requests
from tests.support.chat_requests import user

OPENAI = replace(PROFILES["openai"], dialect="responses")
MODEL = "gpt-5.6"
STOPPED, END = FinishDelta(Finish.STOP), EndDelta()
USAGE = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 2},
    "total_tokens": 14,
}
DEEP = b'{"a":' * 300 + b"1" + b"}" * 300

Json = dict[str, Any]


def openai(**changes: Any) -> BackendProfile:
    return replace(OPENAI, **changes)


def local(**changes: Any) -> BackendProfile:
    """A server of one's own, whose models think in words that anybody can read."""
    usual = {"dialect": "responses", "replay": "reasoning_content", "replay_scope": "all"}
    return replace(PROFILES["llamacpp"], **(usual | changes))


def tool_spec(name: str = "f", **fields: Any) -> ToolSpec:
    return ToolSpec(ToolName(name), **fields)


def sealed(content: str = "abc", text: str = "", model: str = MODEL) -> Reasoning:
    return Reasoning(text, item_extras(sealed_item(content), model))


def sealed_item(content: str = "abc") -> Json:
    return {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": content}


def body_of(
    *turns: Turn,
    on: BackendProfile = OPENAI,
    model: str = MODEL,
    ledger: Ledger | None = None,
    **request: Any,
) -> Json:
    ledger = ledger or Ledger()
    asked = Request(model, list(turns) or [user("Hi")], **request)
    body = jsontext.strict(jsontext.dumps(encode(asked, prepare(asked, on, ledger), on, model, ledger)))
    assert isinstance(body, dict)
    return body


def items_of(*turns: Turn, **how: Any) -> list[Json]:
    items = body_of(*turns, **how)["input"]
    assert isinstance(items, list)
    return items


class Decoded(chat_requests.Decoded):
    def __init__(self, ledger: Ledger | None = None, **profile: Any) -> None:
        super().__init__(ledger)
        self.decoder = ResponsesDecoder(
            self.deltas.append, openai(**profile), self.ledger, self.kept.append, model=MODEL, stamp="17"
        )


# ── events ──


def event(kind: str, **fields: Any) -> Json:
    return {"type": f"response.{kind}", **fields}


def added(item: Json, place: Any = None) -> Json:
    return event("output_item.added", item=item, **_at(place))


def done(item: Json, place: Any = None) -> Json:
    return event("output_item.done", item=item, **_at(place))


def _at(place: Any) -> Json:
    return {} if place is None else {"output_index": place}


def over(*output: Any, status: str = "completed", **more: Any) -> Json:
    return event(status, response={"status": status, "output": list(output), **more})


def message(*content: Any, id: str = "msg_1", **more: Any) -> Json:
    parts = [output_text(part) if isinstance(part, str) else part for part in content]
    return {"type": "message", "id": id, "role": "assistant", "content": parts, **more}


def output_text(text: str, **more: Any) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], **more}


def function_call(
    arguments: Any = "", call_id: str = "c1", name: str = "f", id: str | None = "fc_1", **more: Any
) -> Json:
    item = {"type": "function_call", "id": id, "call_id": call_id, "name": name, "arguments": arguments}
    return {key: value for key, value in item.items() if value is not None} | more


def reasoning(*summary: str, id: str = "rs_1", **more: Any) -> Json:
    parts = [{"type": "summary_text", "text": text} for text in summary]
    return {"type": "reasoning", "id": id, "summary": parts, **more}


def decoded(*events: Json | bytes) -> Decoded:
    return Decoded().say(*events)


def told(*events: Json | bytes) -> list[Delta]:
    return decoded(*events).deltas


def text(words: Any, place: Any = 0, item: str = "msg_1", **more: Any) -> Json:
    where = {"item_id": item, "output_index": place, "content_index": 0}
    return event("output_text.delta", delta=words, **where) | more


def arguments(words: Any, place: Any = 0, item: str = "fc_1") -> Json:
    return event("function_call_arguments.delta", delta=words, item_id=item, output_index=place)


def thought(words: Any, number: Any = 0, item: str = "rs_1") -> Json:
    where = {"item_id": item, "output_index": 0, "summary_index": number}
    return event("reasoning_summary_text.delta", delta=words, **where)
