"""Turns to messages, in the one order that every Chat backend accepts.

What comes out, whatever went in: at most one system message, first, unless the backend takes more; then a user
message; no two assistant messages in a row and none without content; each result right after the message with its
call; last a message that wants an answer. A server's own error for anything else is a template's exception or a
silent misunderstanding, so none of it is left to the backend.
"""

from collections.abc import Sequence
from typing import Any

from proxy.core.dialects.chat.content import CONTENT
from proxy.core.dialects.reading.reply_lessons import scope_of
from proxy.core.dialects.writing.content_parts import ContentPart
from proxy.core.dialects.writing.notes import CONTINUE, MESSAGES, called_with
from proxy.core.dialects.writing.turns import TurnWriter
from proxy.core.extras import details_in, field_in, proofs_in
from proxy.core.fragments import joined
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Part, Reasoning, Refusal, Request, Result, Text, Turn
from proxy.core.profile import BackendProfile, Replay, ReplayScope
from proxy.core.tools.names import NameTable

Message = dict[str, Any]

PROSE = (Text, Refusal)

_Reply = tuple[Message, list[Message], list[Reasoning]]
"""What the model said, the calls in it, and its thoughts."""


def encode_messages(
    request: Request,
    names: NameTable,
    profile: BackendProfile,
    ledger: Ledger,
    *,
    flatten: bool,
    note: str | None,
    model: str = "",
) -> list[Message]:
    """Writes the messages. `flatten`: calls and results are told as text. `note`: an instruction of ours, said to the
    model first."""
    return _Conversation(names, profile, model, ledger, flatten=flatten).of(request.turns, note)


class _Conversation(TurnWriter):
    def __init__(
        self, names: NameTable, profile: BackendProfile, model: str, ledger: Ledger, *, flatten: bool
    ) -> None:
        super().__init__(CONTENT, names, profile, model, ledger, flatten=flatten)
        self._replies: list[_Reply] = []

    def of(self, turns: Sequence[Turn], note: str | None) -> list[Message]:
        self.take(turns)
        if note:
            self._system.append(note)
        for message, calls, reasoning in self._replies:
            if reasoning or self._profile.replay_blank:
                self._reason(message, calls, reasoning)
            if calls:
                if self._profile.signed_calls:
                    self._prove(calls, reasoning)
                message["tool_calls"] = calls
        if self._system:
            self._messages.insert(
                0, {"role": self._profile.system_role, "content": MESSAGES.join(self._system)}
            )
        return self._messages

    # ── taking turns in ────────────────────────────────────────────────────────────────────────────────────────

    def _assistant(self, parts: Sequence[Part]) -> None:
        blocks: list[list[ContentPart]] = []
        calls: list[Message] = []
        reasoning: list[Reasoning] = []
        for part in parts:
            if type(part) is Call:
                name, arguments = self._as_called(part)
                if self._flatten:
                    blocks.append([called_with(name, arguments)])
                else:
                    function = {"name": name, "arguments": arguments}
                    call_id = self._ids.upstream(part.call_id)
                    calls.append({"id": call_id, "type": "function", "function": function})
            elif isinstance(part, PROSE):
                if part.text:
                    blocks.append([part.text])
            elif isinstance(part, Reasoning):
                reasoning.append(part)
            else:
                self._other(part)
        if not blocks and not calls:
            self._forget(reasoning)
        elif self._speaker == "assistant" and not self._replies[-1][1]:
            self._join(blocks)
            _, called, thought = self._replies[-1]
            called += calls
            thought += reasoning
        else:
            if not self._messages:
                self._user([CONTINUE])
            self._replies.append((self._say("assistant", blocks), calls, reasoning))

    def _remark(self, words: str) -> None:
        self._replies.append((self._say("assistant", [[words]]), [], []))

    def _answer(self, result: Result, contents: list[ContentPart]) -> None:
        self._say("tool", [contents])["tool_call_id"] = self._ids.upstream(result.call_id)

    # ── what goes with a reply ─────────────────────────────────────────────────────────────────────────────────

    def _prove(self, calls: list[Message], reasoning: list[Reasoning]) -> None:
        """Gives back to each call what its model put beside it."""
        proofs = {
            self._ids.upstream(proof.call_id): proof.content
            for part in reasoning
            for proof in proofs_in(part.extras)
        }
        for call in calls:
            if call["id"] in proofs:
                call["extra_content"] = proofs[call["id"]]

    def _reason(self, message: Message, calls: list[Message], reasoning: list[Reasoning]) -> None:
        """Puts the reasoning back where its backend looks for it."""
        replay, scope = self._profile.replay, self._profile.replay_scope
        if replay == "none" and self._profile.replay_by_evidence:
            replay, scope = self._evidence(reasoning)
        if replay == "none" or not (calls or scope == "all"):
            self._forget(reasoning)
            return
        details = [detail for part in reasoning for detail in joined(details_in(part.extras))]
        if replay == "reasoning_details" and details:
            message["reasoning_details"] = details
            return
        thought = (
            MESSAGES.join(part.text for part in reasoning if part.text.strip()) or self._profile.replay_blank
        )
        if not thought:
            return
        match replay:
            case "think_tags":
                message["content"] = f"<think>\n{thought}\n</think>\n\n{message['content']}"
            case "reasoning_details":
                message["reasoning"] = thought  # without the vendor's own objects its plain form has to do
            case field_name:
                message[field_name] = thought

    def _evidence(self, reasoning: list[Reasoning]) -> tuple[Replay, ReplayScope]:
        """What the thoughts themselves say, where the proxy has not learned it yet, or has forgotten it: they name the
        field that this model had them in."""
        for part in reasoning:
            if field := field_in(part.extras, self._model):
                return field, scope_of(field)
        return "none", "calls"
