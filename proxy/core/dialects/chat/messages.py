"""Turns to messages, in the one order that every Chat backend accepts.

What comes out, whatever went in: at most one system message, first, unless the backend takes more; then a user
message; no two assistant messages in a row and none without content; each result right after the message with its
call; last a message that wants an answer. A server's own error for anything else is a template's exception or a
silent misunderstanding, so none of it is left to the backend.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proxy.core.dialects.chat.content import CONTENT
from proxy.core.dialects.reading.reply_lessons import scope_of
from proxy.core.dialects.writing.content_parts import ContentPart
from proxy.core.dialects.writing.notes import CONTINUE, MESSAGES, called_with
from proxy.core.dialects.writing.turns import Draft, TurnWriter
from proxy.core.extras import details_in, field_in, proofs_in
from proxy.core.fragments import joined
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Part, Reasoning, Refusal, Request, Result, Text, Turn
from proxy.core.profile import BackendProfile, Replay, ReplayScope
from proxy.core.tools.names import NameTable

Message = dict[str, Any]

PROSE = (Text, Refusal)


@dataclass(slots=True)
class _Draft(Draft):
    calls: Sequence[Message] = ()
    reasoning: Sequence[Reasoning] = ()
    answers: str | None = None
    """Holds the id of the call that this tool message answers."""


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


class _Conversation(TurnWriter[_Draft]):
    draft = _Draft
    content = CONTENT

    def of(self, turns: Sequence[Turn], note: str | None) -> list[Message]:
        self.take(turns)
        if note:
            self._system.append(note)
        messages = [self._message(draft) for draft in self._drafts]
        if self._system:
            messages.insert(0, {"role": self._profile.system_role, "content": MESSAGES.join(self._system)})
        return messages

    # ── taking turns in ────────────────────────────────────────────────────────────────────────────────────────

    def _assistant(self, parts: Sequence[Part]) -> None:
        blocks: list[list[ContentPart]] = []
        calls: list[Message] = []
        reasoning: list[Reasoning] = []
        for part in parts:
            if isinstance(part, PROSE):
                if part.text:
                    blocks.append([part.text])
            elif isinstance(part, Call):
                name, arguments = self._as_called(part)
                if self._flatten:
                    blocks.append([called_with(name, arguments)])
                else:
                    function = {"name": name, "arguments": arguments}
                    call_id = self._ids.upstream(part.call_id)
                    calls.append({"id": call_id, "type": "function", "function": function})
            elif isinstance(part, Reasoning):
                reasoning.append(part)
            else:
                self._other(part)
        last = self._drafts[-1] if self._drafts else None
        if not blocks and not calls:
            self._forget(reasoning)
        elif last and last.role == "assistant" and not last.calls:
            last.blocks += blocks
            last.calls = calls
            last.reasoning = [*last.reasoning, *reasoning]
        else:
            if not last:
                self._user([CONTINUE])
            self._drafts.append(_Draft("assistant", blocks, calls, reasoning))

    def _answer(self, result: Result, contents: list[ContentPart]) -> None:
        self._drafts.append(_Draft("tool", [contents], answers=self._ids.upstream(result.call_id)))

    # ── giving messages out ────────────────────────────────────────────────────────────────────────────────────

    def _message(self, draft: _Draft) -> Message:
        message: Message = {"role": draft.role, "content": CONTENT.content(draft.blocks)}
        if draft.answers is not None:
            message["tool_call_id"] = draft.answers
        elif draft.reasoning or (draft.role == "assistant" and self._profile.replay_blank):
            self._reason(message, draft)
        if draft.calls:
            if self._profile.signed_calls:
                self._prove(draft)
            message["tool_calls"] = draft.calls
        return message

    def _prove(self, draft: _Draft) -> None:
        """Gives back to each call what its model put beside it."""
        proofs = {
            self._ids.upstream(proof.call_id): proof.content
            for part in draft.reasoning
            for proof in proofs_in(part.extras)
        }
        for call in draft.calls:
            if call["id"] in proofs:
                call["extra_content"] = proofs[call["id"]]

    def _reason(self, message: Message, draft: _Draft) -> None:
        """Puts the reasoning back where its backend looks for it."""
        replay, scope = self._profile.replay, self._profile.replay_scope
        if replay == "none" and self._profile.replay_by_evidence:
            replay, scope = self._evidence(draft)
        if replay == "none" or not (draft.calls or scope == "all"):
            self._forget(draft.reasoning)
            return
        details = [detail for part in draft.reasoning for detail in joined(details_in(part.extras))]
        if replay == "reasoning_details" and details:
            message["reasoning_details"] = details
            return
        thought = (
            MESSAGES.join(part.text for part in draft.reasoning if part.text.strip())
            or self._profile.replay_blank
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

    def _evidence(self, draft: _Draft) -> tuple[Replay, ReplayScope]:
        """What the thoughts themselves say, where the proxy has not learned it yet, or has forgotten it: they name the
        field that this model had them in."""
        for part in draft.reasoning:
            if field := field_in(part.extras, self._model):
                return field, scope_of(field)
        return "none", "calls"
