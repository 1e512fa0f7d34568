"""Turns to input items.

Instructions that open the conversation are the request's own; later ones stay where they are, or are said by the user,
as the backend takes them. Each call and each result is an item of its own, in their order, each thought before what it
led to; and last comes something that wants an answer.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from proxy.core.dialects.responses import calls, thoughts
from proxy.core.dialects.responses.content import CONTENT
from proxy.core.dialects.writing.content_parts import ContentPart
from proxy.core.dialects.writing.notes import CONTINUE, MESSAGES, called_with
from proxy.core.dialects.writing.turns import TurnWriter
from proxy.core.ledger import Ledger
from proxy.core.model import (
    FUNCTION,
    Call,
    HostedItem,
    Part,
    Reasoning,
    Refusal,
    Request,
    Result,
    Text,
    ToolKind,
)
from proxy.core.profile import BackendProfile
from proxy.core.tools.names import NameTable
from proxy.core.tools.prepare import NAMESPACE, Prepared

Item = dict[str, Any]

PROSE = (Text, Refusal)
SAID = (Call, HostedItem)

ANSWERS = ("mcp_approval_response", "computer_call_output")
"""Types of items in which the user's side answers a tool of the backend's."""


class WrittenInput(NamedTuple):
    items: list[Item]
    instructions: str


def converse(
    request: Request,
    prepared: Prepared,
    profile: BackendProfile,
    model: str,
    ledger: Ledger,
    *,
    flatten: bool,
    note: str | None,
) -> WrittenInput:
    """`flatten`: calls and results are told as text. `note`: an instruction of ours, said to the model first."""
    writer = _Writer(prepared.names, profile, model, ledger, flatten=flatten)
    writer.take(request.turns)
    return writer.written(note)


class _Writer(TurnWriter):
    def __init__(
        self, names: NameTable, profile: BackendProfile, model: str, ledger: Ledger, *, flatten: bool
    ) -> None:
        super().__init__(
            CONTENT, names, profile, model, ledger, flatten=flatten, media_results=profile.media_results
        )
        self._native = profile.as_declared
        self._as_is: dict[str, ToolKind] = {}
        """The kinds of calls that the backend was told as what they were, by the client's call ids."""
        self._phase: str | None = None
        """Of the last message."""

    def written(self, note: str | None) -> WrittenInput:
        instructions = [*self._system, note] if note else self._system
        return WrittenInput(self._messages, MESSAGES.join(instructions))

    def _append(self, role: str, item: Item) -> None:
        """`role`: whose item it is."""
        self._speaker, self._blocks = role, []
        self._messages.append(item)

    def _say(self, role: str, blocks: list[list[ContentPart]], phase: str | None = None) -> Item:
        item = {"type": "message", "role": role, "content": CONTENT.content(blocks)}
        if phase:
            item["phase"] = phase
        self._append(role, item)
        self._blocks, self._phase = blocks, phase
        return item

    def _assistant(self, parts: Sequence[Part]) -> None:
        if not any(part.text if isinstance(part, PROSE) else isinstance(part, SAID) for part in parts):
            self._forget(parts)
            return
        if not self._messages:
            self._user([CONTINUE])
        reasons = self._reasons(parts)
        for part in parts:
            if isinstance(part, PROSE):
                self._prose(part.text, part.phase if isinstance(part, Text) else None)
            elif isinstance(part, Call):
                self._call(part)
            elif isinstance(part, Reasoning):
                if reasons:
                    self._thought(part)
                else:
                    self._forget([part])
            else:
                self._other(part)

    def _prose(self, text: str, phase: str | None = None) -> None:
        if not text:
            return
        if self._blocks and (self._speaker, self._phase) == ("assistant", phase):
            self._join([[text]])
        else:
            self._say("assistant", [[text]], phase)

    def _call(self, call: Call) -> None:
        name, arguments = self._as_called(call)
        if self._flatten:
            self._prose(called_with(name, arguments))
            return
        named = {"name": name}
        if NAMESPACE in self._native and (space := self._names.space(call.tool, call.kind)):
            named = {"name": call.tool.name, "namespace": space}
        where = {"call_id": self._ids.upstream(call.call_id)}
        item = calls.called(call, where, named) if self._takes(call) else None
        if item is None:
            item = {"type": "function_call", **where, **named, "arguments": arguments}
        else:
            self._as_is[call.call_id] = call.kind
        self._append("assistant", item)

    def _takes(self, call: Call) -> bool:
        return call.kind in self._native and self._names.is_own(call.tool, call.kind)

    def _answer(self, result: Result, contents: list[ContentPart]) -> None:
        where = {"call_id": self._ids.upstream(result.call_id)}
        output = CONTENT.content([contents])
        kind = self._as_is.get(result.call_id, FUNCTION)
        if kind in calls.IN_WORDS:
            for _ in range(sum(not isinstance(part, str) for part in contents)):
                self._ledger.drop("tool_output_part")
        self._append("tool", calls.answered(kind, result, where, output))

    def _other(self, part: Part) -> None:
        """Only a backend with tools of its own can read what they did."""
        if not isinstance(part, HostedItem):
            super()._other(part)
        elif self._profile.hosted_tools:
            self._append("user" if part.item["type"] in ANSWERS else "assistant", part.item)
        else:
            self._ledger.drop("hosted_item")

    # ── thoughts ───────────────────────────────────────────────────────────────────────────────────────────────

    def _reasons(self, parts: Sequence[Part]) -> bool:
        """Do the thoughts among these parts go back as text, where there is nothing better? Where their absence is
        refused, something stands for them."""
        profile = self._profile
        calls = any(isinstance(part, Call) for part in parts)
        scoped = profile.replay != "none" and (calls or profile.replay_scope == "all")
        thought = any(isinstance(part, Reasoning) for part in parts)
        if scoped and profile.replay_blank and not thought:
            self._append("assistant", thoughts.item_of(profile.replay_blank))
        return scoped or bool(self._own(parts))

    def _thought(self, part: Reasoning) -> None:
        if own := self._own([part]):
            for item in own:
                self._append("assistant", item)
        elif part.text.strip() and self._profile.replay != "none":
            self._append("assistant", thoughts.item_of(part.text))
        else:
            self._forget([part])

    def _own(self, parts: Sequence[Part]) -> list[Item]:
        if not self._profile.sealed_back:
            return []
        return thoughts.returned([part for part in parts if isinstance(part, Reasoning)], self._model)
