"""Turns to messages, in the one order that every Chat backend accepts.

What comes out, whatever went in: at most one system message, first, unless the backend takes more; then a user
message; no two assistant messages in a row and none without content; each result right after the message with its
call; last a message that wants an answer. A server's own error for anything else is a template's exception or a
silent misunderstanding, so none of it is left to the backend.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.core.dialects.chat import content as chat_content
from proxy.core.dialects.chat.content import ContentPart
from proxy.core.dialects.reading.reply_lessons import scope_of
from proxy.core.dialects.writing import call_arguments
from proxy.core.dialects.writing.call_ids import CallIds
from proxy.core.dialects.writing.failed_results import ERROR_PREFIX, says_error
from proxy.core.dialects.writing.notes import (
    CONTINUE,
    MESSAGES,
    MOVED,
    PARTS,
    as_instruction,
    returned_by,
)
from proxy.core.extras import details_in, field_in, proofs_in
from proxy.core.fragments import joined
from proxy.core.ledger import Ledger
from proxy.core.model import (
    Audio,
    Call,
    File,
    Image,
    Part,
    Reasoning,
    Refusal,
    Request,
    Result,
    Role,
    Text,
    Turn,
)
from proxy.core.profile import BackendProfile, Replay, ReplayScope
from proxy.core.tools.kinds.bridges import BRIDGES
from proxy.core.tools.names import NameTable

Message = dict[str, Any]

MEDIA = (Image, Audio, File)
PROSE = (Text, Refusal)

RAW = "_raw"
"""Holds the arguments of an earlier call that are no JSON object, since servers parse them and fail on others."""


@dataclass(slots=True)
class _Draft:
    """Holds a message that may still grow."""

    role: str
    blocks: list[list[ContentPart]]
    """Holds the parts of each message that went into this one."""
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
    return _Conversation(names, profile, ledger, flatten, model).of(request.turns, note)


class _Conversation:
    def __init__(
        self, names: NameTable, profile: BackendProfile, ledger: Ledger, flatten: bool, model: str
    ) -> None:
        self._names = names
        self._profile = profile
        self._ledger = ledger
        self._flatten = flatten
        self._model = model
        self._ids = CallIds(profile.call_id)
        self._called: dict[str, str] = {}
        """Says what was called, by the client's call id."""
        self._system: list[str] = []
        self._drafts: list[_Draft] = []

    def of(self, turns: Sequence[Turn], note: str | None) -> list[Message]:
        for turn in turns:
            TAKERS[turn.role](self, turn.parts)
        if not self._drafts or self._drafts[-1].role not in ("user", "tool"):
            self._user([CONTINUE])
        if note:
            self._system.append(note)
        messages = [self._message(draft) for draft in self._drafts]
        if self._system:
            messages.insert(0, {"role": self._profile.system_role, "content": MESSAGES.join(self._system)})
        return messages

    # ── taking turns in ────────────────────────────────────────────────────────────────────────────────────────

    def _instruct(self, parts: Sequence[Part]) -> None:
        words = PARTS.join([part for part in self._readable(parts) if isinstance(part, str)])
        if not words:
            return
        if not self._drafts or self._profile.late_system == "merge":
            self._system.append(words)
        elif self._profile.late_system == "keep":
            self._drafts.append(_Draft(self._profile.system_role, [[words]]))
        else:
            self._user([as_instruction(words)])

    def _readable(self, parts: Sequence[Part]) -> list[ContentPart]:
        readable: list[ContentPart] = []
        for part in parts:
            if isinstance(part, Text):
                if part.text:
                    readable.append(part.text)
            elif isinstance(part, MEDIA):
                readable.append(chat_content.of_user(part, self._profile, self._ledger))
            else:
                self._ledger.drop("misplaced_part")
        return readable

    def _say(self, parts: Sequence[Part]) -> None:
        self._user(self._readable(parts))

    def _user(self, block: list[ContentPart]) -> None:
        if not block:
            return
        last = self._drafts[-1] if self._drafts else None
        if last and last.role == "user" and self._profile.join_users:
            last.blocks.append(block)
            return
        if last and last.role == "tool" and self._profile.after_tool:
            self._drafts.append(_Draft("assistant", [[self._profile.after_tool]]))
        self._drafts.append(_Draft("user", [block]))

    def _assistant(self, parts: Sequence[Part]) -> None:
        blocks: list[list[ContentPart]] = []
        calls: list[Message] = []
        reasoning: list[Reasoning] = []
        for part in parts:
            if isinstance(part, PROSE):
                if part.text:
                    blocks.append([part.text])
            elif isinstance(part, Call):
                call = self._call(part)
                if self._flatten:
                    blocks.append([_in_words(call["function"])])
                else:
                    calls.append(call)
            elif isinstance(part, Reasoning):
                reasoning.append(part)
            else:
                self._ledger.drop("misplaced_part")
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

    def _call(self, call: Call) -> Message:
        name = self._called[call.call_id] = self._names.upstream(call.tool, call.kind)
        arguments = call_arguments.as_text(BRIDGES[call.kind].to_function(call.arguments), RAW)
        function = {"name": name, "arguments": arguments}
        return {"id": self._ids.upstream(call.call_id), "type": "function", "function": function}

    def _results(self, parts: Sequence[Part]) -> None:
        moved: list[ContentPart] = []
        for result in parts:
            if not isinstance(result, Result):
                self._ledger.drop("misplaced_part")
                continue
            contents: list[ContentPart] = []
            others: list[ContentPart] = []
            for part in result.content:
                content = chat_content.of_tool(part, self._profile, self._ledger)
                contents.append(content)
                if not isinstance(content, str):
                    others.append(content)
            if result.is_error:
                contents = _marked(contents)
            if self._flatten:
                self._user([self._origin(result), *contents])
                continue
            if others:
                contents = [*(part for part in contents if isinstance(part, str)), MOVED]
                moved += [self._origin(result), *others]
            self._drafts.append(_Draft("tool", [contents], answers=self._ids.upstream(result.call_id)))
        if moved:
            self._user(moved)

    def _origin(self, result: Result) -> str:
        return returned_by(self._called.get(result.call_id, "a tool"))

    # ── giving messages out ────────────────────────────────────────────────────────────────────────────────────

    def _message(self, draft: _Draft) -> Message:
        message: Message = {"role": draft.role, "content": chat_content.content(draft.blocks)}
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

    def _forget(self, reasoning: Sequence[Reasoning]) -> None:
        if reasoning:
            self._ledger.drop("reasoning")


TAKERS: Mapping[Role, Callable[[_Conversation, Sequence[Part]], None]] = {
    Role.SYSTEM: _Conversation._instruct,
    Role.DEVELOPER: _Conversation._instruct,
    Role.USER: _Conversation._say,
    Role.ASSISTANT: _Conversation._assistant,
    Role.TOOL: _Conversation._results,
}


def _in_words(function: Mapping[str, str]) -> str:
    return f"[called {function['name']}: {function['arguments']}]"


def _marked(contents: list[ContentPart]) -> list[ContentPart]:
    """Marks the result of a tool that failed: Chat has no field for it, so the words have to say it."""
    first = contents[0] if contents and isinstance(contents[0], str) else ""
    return contents if says_error(first) else [ERROR_PREFIX, *contents]
