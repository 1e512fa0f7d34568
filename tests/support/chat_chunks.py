"""The chunks of a Chat stream as backends send them, and the decoder that reads them."""

from dataclasses import replace
from typing import Any

from proxy.core.dialects.chat.decode import ChatDecoder
from proxy.core.profile import DEFAULT
from tests.support import chat_requests


class Decoded(chat_requests.Decoded):
    def __init__(self, **profile: Any) -> None:
        super().__init__()
        self.decoder = ChatDecoder(self.deltas.append, replace(DEFAULT, **profile), self.ledger)


def chunk(delta: Any = None, finish: Any = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def calls(*calls: Any) -> dict[str, Any]:
    return chunk({"tool_calls": list(calls)})


def function(**fields: Any) -> dict[str, Any]:
    return {"index": 0, "function": fields}
