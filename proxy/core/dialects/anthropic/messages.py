"""Turns to messages, in the one order that the Messages API accepts.

What comes out, whatever went in: instructions from before the conversation by themselves; then users and assistants
in turns, beginning and ending with a user; the results of one assistant message all in the next message, before
anything else in it; no text without a visible character. The newest models prove each thought by every byte before
it, so what was said once is said the same in every later request: later instructions stay where they are, and nothing
of the history depends on what follows it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from proxy.core.dialects.anthropic import content
from proxy.core.dialects.anthropic.content import Block
from proxy.core.dialects.anthropic.models import LateSystem, Traits
from proxy.core.dialects.writing import call_arguments
from proxy.core.dialects.writing.call_ids import CallIds
from proxy.core.dialects.writing.failed_results import failed
from proxy.core.dialects.writing.notes import CONTINUE, MOVED_BEHIND, as_instruction, returned_by
from proxy.core.extras import BLOCKS
from proxy.core.ledger import Ledger
from proxy.core.model import (
    Call,
    Part,
    Reasoning,
    Refusal,
    Request,
    Result,
    Role,
    Text,
    UserPart,
)
from proxy.core.profile import BackendProfile
from proxy.core.schemas.aliases import renamed
from proxy.core.tools.kinds.bridges import BRIDGES
from proxy.core.tools.prepare import Prepared

DIALECT = "anthropic"
"""The key of this dialect's own things in `extras`."""

THOUGHTS = frozenset({"thinking", "redacted_thinking"})

Message = dict[str, Any]
Speaker = Literal["user", "assistant", "system"]


@dataclass(slots=True)
class _Draft:
    """Holds a message that may still grow."""

    role: Speaker
    blocks: list[Block]


@dataclass(slots=True)
class SystemAndMessages:
    system: list[Block]
    messages: list[Message]

    @property
    def tells_calls(self) -> bool:
        return any(_has_call(message) for message in self.messages)

    @property
    def unproven(self) -> bool:
        """Does the model's last message call tools without a thought before?"""
        last = next((each for each in reversed(self.messages) if each["role"] == "assistant"), None)
        return last is not None and _has_call(last) and last["content"][0]["type"] not in THOUGHTS


def _has_call(message: Message) -> bool:
    return any(block["type"] == "tool_use" for block in message["content"])


def converse(
    request: Request,
    prepared: Prepared,
    profile: BackendProfile,
    traits: Traits,
    model: str,
    ledger: Ledger,
) -> SystemAndMessages:
    writer = _Writer(prepared, profile, model, ledger)
    for role, parts in request.turns:
        TAKERS[role](writer, parts)
    return SystemAndMessages(writer.system, _messages(writer.drafts, _may_instruct(profile, traits)))


def urged(
    conversation: SystemAndMessages, words: str, profile: BackendProfile, traits: Traits
) -> SystemAndMessages:
    """Adds a last instruction, where those of the system stand in a conversation."""
    drafts = [_Draft(message["role"], list(message["content"])) for message in conversation.messages]
    drafts.append(_Draft("system", [content.text(words)]))
    return SystemAndMessages(conversation.system, _messages(drafts, _may_instruct(profile, traits)))


class _Writer:
    def __init__(self, prepared: Prepared, profile: BackendProfile, model: str, ledger: Ledger) -> None:
        self.system: list[Block] = []
        self.drafts: list[_Draft] = []
        self._names = prepared.names
        self._aliases = {
            tool: {name: alias for alias, name in names.items()} for tool, names in prepared.aliases.items()
        }
        """Holds for each tool the aliases of its properties by their names."""
        self._replays = profile.replay != "none"
        self._model = model
        self._ledger = ledger
        self._ids = CallIds(profile.call_id)
        self._called: dict[str, str] = {}
        """Says what was called, by the client's call id."""

    def _instruct(self, parts: Sequence[Part]) -> None:
        blocks = [block for block in self._readable(parts) if block["type"] == "text"]
        if not self.drafts:
            self.system += blocks
        elif blocks:
            self.drafts.append(_Draft("system", blocks))

    def _say(self, parts: Sequence[Part]) -> None:
        self._add("user", self._readable(parts))

    def _readable(self, parts: Sequence[Part]) -> list[Block]:
        blocks = []
        for part in parts:
            if not isinstance(part, UserPart):
                self._ledger.drop("misplaced_part")
            elif block := content.of_user(part):
                blocks.append(block)
        return blocks

    def _assistant(self, parts: Sequence[Part]) -> None:
        blocks: list[Block] = []
        for part in parts:
            match part:
                case Text() | Refusal():
                    if part.text.strip():
                        blocks.append(content.text(part.text))
                case Reasoning():
                    blocks += self._thoughts(part)
                case Call():
                    blocks.append(self._call(part))
                case _:
                    self._ledger.drop("misplaced_part")
        while blocks and blocks[-1]["type"] in THOUGHTS:  # refused where nothing follows
            blocks.pop()
            self._ledger.drop("reasoning")
        self._add("assistant", blocks)

    def _thoughts(self, part: Reasoning) -> list[Block]:
        """Gives the thoughts of this very model. The API would refuse another model's, or words without a proof."""
        kept = part.extras.get(DIALECT, {}).get(BLOCKS, ()) if self._replays else ()
        blocks: list[Block] = [entry["block"] for entry in kept if entry.get("model") == self._model]
        if not blocks:
            self._ledger.drop("reasoning")
        return blocks

    def _call(self, call: Call) -> Block:
        name = self._called[call.call_id] = self._names.upstream(call.tool, call.kind)
        arguments = BRIDGES[call.kind].to_function(call.arguments)
        if aliases := self._aliases.get(call.tool):
            arguments = renamed(arguments, aliases)
        given = call_arguments.as_object(arguments)
        return {"type": "tool_use", "id": self._ids.upstream(call.call_id), "name": name, "input": given}

    def _results(self, parts: Sequence[Part]) -> None:
        moved: list[Block] = []
        results: list[Block] = []
        for part in parts:
            if isinstance(part, Result):
                results.append(self._result(part, moved))
            else:
                self._ledger.drop("misplaced_part")
        self._add("user", results + moved)

    def _result(self, result: Result, moved: list[Block]) -> Block:
        """Writes a result. One that failed may say so in words only; the rest of it goes after all the results."""
        contents = [content.of_tool(part, self._ledger) for part in result.content]
        blocks = [block for block in contents if block]
        is_error = failed(result)
        if is_error and (others := [block for block in blocks if block["type"] != "text"]):
            blocks = [block for block in blocks if block["type"] == "text"]
            blocks.append(content.text(MOVED_BEHIND))
            origin = self._called.get(result.call_id, "a tool")
            moved += [content.text(returned_by(origin)), *others]
        answer: Block = {
            "type": "tool_result",
            "tool_use_id": self._ids.upstream(result.call_id),
            "content": _plain(blocks),
        }
        return answer | {"is_error": True} if is_error else answer

    def _add(self, role: Speaker, blocks: list[Block]) -> None:
        if blocks:
            self.drafts.append(_Draft(role, blocks))


def _plain(blocks: list[Block]) -> str | list[Block]:
    """Gives a string where the content can be one: results mostly are."""
    if not blocks:
        return ""
    if len(blocks) == 1 and blocks[0]["type"] == "text":
        words: str = blocks[0]["text"]
        return words
    return blocks


# ── from drafts to messages ──


def _may_instruct(profile: BackendProfile, traits: Traits) -> LateSystem:
    return traits.late_system if profile.late_system == "keep" else "no"


TAKERS: Mapping[Role, Callable[[_Writer, Sequence[Part]], None]] = {
    Role.SYSTEM: _Writer._instruct,
    Role.DEVELOPER: _Writer._instruct,
    Role.USER: _Writer._say,
    Role.ASSISTANT: _Writer._assistant,
    Role.TOOL: _Writer._results,
}


def _messages(drafts: Sequence[_Draft], may_instruct: LateSystem) -> list[Message]:
    messages: list[_Draft] = []
    joined = _joined(drafts)
    for index, draft in enumerate(joined):
        if draft.role == "system":
            last = messages[-1] if messages else None
            follower = joined[index + 1].role if index + 1 < len(joined) else "assistant"
            if follower != "assistant" or not _may_follow(last, may_instruct):
                draft = _as_user(draft)
        if not messages and draft.role == "assistant":
            messages.append(_continue())
        if messages and messages[-1].role == draft.role:
            messages[-1] = _Draft(draft.role, messages[-1].blocks + draft.blocks)
        else:
            messages.append(draft)
    if not messages or messages[-1].role == "assistant":
        messages.append(_continue())
    return [{"role": draft.role, "content": draft.blocks} for draft in messages]


def _may_follow(last: _Draft | None, may_instruct: LateSystem) -> bool:
    """May an instruction stand here? Where it may not, the user says it."""
    if last is None or last.role != "user" or may_instruct == "no":
        return False
    return may_instruct == "yes" or last.blocks[-1]["type"] != "tool_result"


def _joined(drafts: Sequence[_Draft]) -> list[_Draft]:
    """Joins neighbours of one role."""
    joined: list[_Draft] = []
    for draft in drafts:
        if joined and joined[-1].role == draft.role:
            joined[-1] = _Draft(draft.role, joined[-1].blocks + draft.blocks)
        else:
            joined.append(draft)
    return joined


def _as_user(draft: _Draft) -> _Draft:
    return _Draft("user", [content.text(as_instruction(block["text"])) for block in draft.blocks])


def _continue() -> _Draft:
    return _Draft("user", [content.text(CONTINUE)])
