"""The native surface from outside: the Chat API with calls that come whole, and ids that the proxy must know again."""

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.core import jsontext
from tests.contract.cases import Ask
from tests.contract.chat import Chat
from tests.contract.surfaces import Answer, Json

HEADER = "x-proxy-call-ids"


class Native(Chat):
    path = "/native/v1/chat/completions"
    fragments = False

    def __init__(
        self, *, whole_calls: bool = False, conversation_id: str | None = None, failing: bool = False
    ) -> None:
        """`conversation_id`: the proxy keeps the ids. Without one they are a token that the client carries (N03).
        `failing`: all tools fail, and say why in JSON (N05)."""
        super().__init__(whole_calls=whole_calls)
        self._failing = failing
        self._conversation = {} if conversation_id is None else {"conversation_id": conversation_id}

    def body(self, ask: Ask, model: str, *, stream: bool) -> Json:
        return super().body(ask, model, stream=stream) | self._conversation

    def next(self, body: Json, answer: Answer, results: Sequence[tuple[str, str, str]]) -> Json:
        following = super().next(body, answer, results)
        if self._failing:
            for message in following["messages"][-len(results) :]:
                message |= {"content": jsontext.strict(message["content"]), "is_error": True}
        return following

    def whole(self, body: Json, headers: Mapping[str, str]) -> Answer:
        answer = super().whole(body, headers)
        assert headers.get(HEADER) == answer.carried.get(HEADER), "N03: the token, where a header can have it"
        return answer

    def arguments(self, said: Any, *, cut: bool) -> Any:
        """N04: the object itself, never its text."""
        assert isinstance(said, dict)
        return said

    def carried(self, beside: Json) -> Mapping[str, str]:
        assert not (self._conversation and "call_ids" in beside), "a token for what the proxy keeps"
        return {HEADER: beside["call_ids"]} if "call_ids" in beside else {}
