"""Turns to input items.

Instructions that open the conversation are the request's own; later ones stay where they are, or are said by the user,
as the backend takes them. Each call and each result is an item of its own, in their order, each thought before what it
led to; and last comes something that wants an answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from proxy.core.dialects.responses import content as responses_content
from proxy.core.dialects.responses import thoughts
from proxy.core.dialects.responses.content import ContentPart
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
from proxy.core.ledger import Ledger
from proxy.core.model import (
    Audio,
    Call,
    File,
    HostedItem,
    Image,
    Part,
    Reasoning,
    Refusal,
    Request,
    Result,
    Role,
    Text,
)
from proxy.core.profile import BackendProfile
from proxy.core.tools.kinds.bridges import BRIDGES
from proxy.core.tools.prepare import Prepared

Item = dict[str, Any]

MEDIA = (Image, Audio, File)
PROSE = (Text, Refusal)

ANSWERS = ("mcp_approval_response", "computer_call_output")
"""Types of items in which the user's side answers a tool of the backend's."""

RAW = "_raw"
"""Holds the arguments of an earlier call that are no JSON object, since local servers parse them and fail on others."""


class Conversation(NamedTuple):
    items: list[Item]
    instructions: str


@dataclass(slots=True)
class _Message:
    """A message that may still grow."""

    role: str
    blocks: list[list[ContentPart]]
    """Holds the parts of each message that went into this one."""
    phase: str | None = None

    def item(self) -> Item:
        content = responses_content.content(self.blocks)
        phase = {"phase": self.phase} if self.phase else {}
        return {"type": "message", "role": self.role, "content": content, **phase}


def converse(
    request: Request,
    prepared: Prepared,
    profile: BackendProfile,
    model: str,
    ledger: Ledger,
    *,
    flatten: bool,
    note: str | None,
) -> Conversation:
    """`flatten`: calls and results are told as text. `note`: an instruction of ours, said to the model first."""
    writer = _Writer(prepared, profile, model, ledger, flatten)
    for turn in request.turns:
        TAKERS[turn.role](writer, turn.parts)
    return writer.conversation(note)


class _Writer:
    def __init__(
        self, prepared: Prepared, profile: BackendProfile, model: str, ledger: Ledger, flatten: bool
    ) -> None:
        self._names = prepared.names
        self._profile = profile
        self._model = model
        self._ledger = ledger
        self._flatten = flatten
        self._ids = CallIds(profile.call_id)
        self._called: dict[str, str] = {}
        """Says what was called, by the client's call id."""
        self._instructions: list[str] = []
        self._items: list[Item | _Message] = []
        self._last = ""
        """Who spoke last."""

    def conversation(self, note: str | None) -> Conversation:
        if self._last not in ("user", "tool"):
            self._user([CONTINUE])
        if note:
            self._instructions.append(note)
        items = [item.item() if isinstance(item, _Message) else item for item in self._items]
        return Conversation(items, MESSAGES.join(self._instructions))

    # ── taking turns in ────────────────────────────────────────────────────────────────────────────────────────

    def _instruct(self, parts: Sequence[Part]) -> None:
        words = PARTS.join([part for part in self._readable(parts) if isinstance(part, str)])
        if not words:
            return
        if not self._items or self._profile.late_system == "merge":
            self._instructions.append(words)
        elif self._profile.late_system == "keep":
            self._items.append(_Message(self._profile.system_role, [[words]]))
            self._last = self._profile.system_role
        else:
            self._user([as_instruction(words)])

    def _readable(self, parts: Sequence[Part]) -> list[ContentPart]:
        readable: list[ContentPart] = []
        for part in parts:
            if isinstance(part, HostedItem):
                self._hosted(part)
            elif isinstance(part, Text):
                if part.text:
                    readable.append(part.text)
            elif isinstance(part, MEDIA):
                readable.append(responses_content.of_user(part, self._profile, self._ledger))
            else:
                self._ledger.drop("misplaced_part")
        return readable

    def _say(self, parts: Sequence[Part]) -> None:
        self._user(self._readable(parts))

    def _user(self, block: list[ContentPart]) -> None:
        if not block:
            return
        last = self._items[-1] if self._items else None
        if isinstance(last, _Message) and last.role == "user" and self._profile.join_users:
            last.blocks.append(block)
            return
        if self._last == "tool" and self._profile.after_tool:
            self._items.append(_Message("assistant", [[self._profile.after_tool]]))
        self._items.append(_Message("user", [block]))
        self._last = "user"

    def _assistant(self, parts: Sequence[Part]) -> None:
        if not any(isinstance(part, (*PROSE, Call, HostedItem)) for part in parts):
            self._forget(parts)
            return
        if not self._items:
            self._user([CONTINUE])
        self._last = "assistant"
        reasons = self._reasons(parts)
        for part in parts:
            if isinstance(part, PROSE):
                self._prose(part.text, part.phase if isinstance(part, Text) else None)
            elif isinstance(part, Call):
                self._call(part)
            elif isinstance(part, HostedItem):
                self._hosted(part)
            elif isinstance(part, Reasoning):
                if reasons:
                    self._thought(part)
                else:
                    self._forget([part])
            else:
                self._ledger.drop("misplaced_part")

    def _prose(self, text: str, phase: str | None = None) -> None:
        last = self._items[-1]
        if not text:
            return
        if isinstance(last, _Message) and (last.role, last.phase) == ("assistant", phase):
            last.blocks.append([text])
        else:
            self._items.append(_Message("assistant", [[text]], phase))

    def _call(self, call: Call) -> None:
        name = self._called[call.call_id] = self._names.upstream(call.tool, call.kind)
        arguments = call_arguments.as_text(BRIDGES[call.kind].to_function(call.arguments), RAW)
        if self._flatten:
            self._prose(f"[called {name}: {arguments}]")
            return
        self._items.append(
            {
                "type": "function_call",
                "call_id": self._ids.upstream(call.call_id),
                "name": name,
                "arguments": arguments,
            }
        )

    def _hosted(self, part: HostedItem) -> None:
        """Only who has tools of its own can read what they did."""
        if self._profile.hosted_tools:
            self._items.append(part.item)
            self._last = "user" if part.item["type"] in ANSWERS else "assistant"
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
            self._items.append(thoughts.item_of(profile.replay_blank))
        return scoped or bool(self._own(parts))

    def _thought(self, part: Reasoning) -> None:
        if own := self._own([part]):
            self._items += own
        elif part.text.strip() and self._profile.replay != "none":
            self._items.append(thoughts.item_of(part.text))
        else:
            self._forget([part])

    def _own(self, parts: Sequence[Part]) -> list[Item]:
        return thoughts.returned([part for part in parts if isinstance(part, Reasoning)], self._model)

    def _forget(self, parts: Sequence[Part]) -> None:
        if any(isinstance(part, Reasoning) for part in parts):
            self._ledger.drop("reasoning")

    # ── results ────────────────────────────────────────────────────────────────────────────────────────────────

    def _results(self, parts: Sequence[Part]) -> None:
        moved: list[ContentPart] = []
        for result in parts:
            if isinstance(result, Result):
                moved += self._result(result)
            else:
                self._ledger.drop("misplaced_part")
        if moved:
            self._user(moved)

    def _result(self, result: Result) -> list[ContentPart]:
        """Writes the result; returns what it cannot hold, for the user to say."""
        contents = [responses_content.of_tool(part, self._profile, self._ledger) for part in result.content]
        if result.is_error:
            contents = _marked(contents)
        origin = returned_by(self._called.get(result.call_id, "a tool"))
        if self._flatten:
            self._user([origin, *contents])
            return []
        others = [part for part in contents if not isinstance(part, str)]
        output: Any
        if others and self._profile.media_results:
            output = [responses_content.listed(part) for part in contents]
            others = []
        else:
            words = [part for part in contents if isinstance(part, str)]
            output = PARTS.join([*words, MOVED] if others else words)
        call_id = self._ids.upstream(result.call_id)
        self._items.append({"type": "function_call_output", "call_id": call_id, "output": output})
        self._last = "tool"
        return [origin, *others] if others else []


TAKERS: Mapping[Role, Callable[[_Writer, Sequence[Part]], None]] = {
    Role.SYSTEM: _Writer._instruct,
    Role.DEVELOPER: _Writer._instruct,
    Role.USER: _Writer._say,
    Role.ASSISTANT: _Writer._assistant,
    Role.TOOL: _Writer._results,
}


def _marked(contents: list[ContentPart]) -> list[ContentPart]:
    """Marks the result of a tool that failed: the API has no field for it, so the words have to say it."""
    first = contents[0] if contents and isinstance(contents[0], str) else ""
    return contents if says_error(first) else [ERROR_PREFIX, *contents]
