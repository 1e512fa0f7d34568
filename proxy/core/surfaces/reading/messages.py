"""A list of messages, each by its role: what the Chat Completions surface and the native one share.

A surface gives a table `role → function` of the roles that it knows. Each message becomes one turn; `history` decides
which turns belong together. Results stand after their calls here: a result must answer a call of an earlier message.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from proxy.core.extras import DETAILS, detail_extras, readable, usable_details
from proxy.core.masking.redact import quoted
from proxy.core.model import ASSISTANT, USER, Call, Part, Reasoning, Refusal, Role, Turn
from proxy.core.surfaces.reading.checks import (
    FieldFault,
    array,
    mapping,
    missing,
    optional_string_in,
    too_many,
    unsupported,
    wrong_type,
    wrong_value,
)
from proxy.core.surfaces.reading.content import (
    ASSISTANT_PARTS,
    MAX_PARTS,
    MEDIA_PARTS,
    PARTS,
    InputCursor,
    content_in,
    read_file,
)
from proxy.core.surfaces.reading.tools import Json

MAX_MESSAGES = 20_000
"""Messages in one request: one per 50 tokens of a window of a million, and about 40 ms of the event loop."""

ANSWERED = "the id of the call that is answered"

ANSWERING = frozenset({"tool", "function"})
"""The roles whose `name` is that of a tool. Elsewhere it names participants, for which few backends have a field."""


@dataclass(slots=True)
class MessagesSoFar:
    """What the messages of one request have said so far of calls, and where the walk over them stands."""

    cursor: InputCursor
    names: dict[str, str] = field(default_factory=dict)
    """The names of the called tools, by call id."""
    waiting: Counter[str] = field(default_factory=Counter)
    """The number of calls of each id that wait for their result: backends repeat their ids in each reply."""
    unnumbered: dict[str, list[str]] = field(default_factory=dict)
    """By the name of the function, the ids that were made up for calls in the old form, which has none."""
    strict: bool = False
    """Is an id of a call refused where none is answered? Else the client is told that it was ignored."""

    def called(self, call: Call) -> None:
        self.names[call.call_id] = call.tool.name
        self.waiting[call.call_id] += 1

    def answered(self, call_id: str) -> None:
        """Notes a result. Its call must stand in an earlier message (C02)."""
        if call_id not in self.names and not call_id:
            raise wrong_value(".tool_call_id", f"is empty: put {ANSWERED}.")
        if call_id not in self.names:
            raise wrong_value(
                ".tool_call_id",
                f"is {quoted(call_id)}, which no earlier assistant message has called. "
                "Put the call before its result, or leave the result out.",
            )
        if not self.waiting[call_id]:
            raise wrong_value(
                ".tool_call_id", f"is {quoted(call_id)}, which already has its result: leave one out."
            )
        self.waiting[call_id] -= 1

    def stray_id(self) -> None:
        if self.strict:
            raise wrong_value(".tool_call_id", "may only stand in a tool message: leave it out here.")
        self.cursor.ledger.warn("tool_call_id was ignored in messages whose role is not tool.")


Speaker = Callable[[Json, MessagesSoFar], Turn]
CallReader = Callable[[Json, MessagesSoFar], list[Part]]
"""Reads a call, and what must come back before it."""


def read_messages(messages: list[Any], speakers: Mapping[str, Speaker], so_far: MessagesSoFar) -> list[Turn]:
    if len(messages) > MAX_MESSAGES:
        raise too_many("messages", MAX_MESSAGES, "messages")
    said: list[Turn] = []
    for index, message in enumerate(messages):
        so_far.cursor.item = index
        try:
            said.append(_said(message, speakers, so_far))
        except FieldFault as fault:
            raise fault.inside(f"messages[{index}]") from None
    return said


def _said(message: Any, speakers: Mapping[str, Speaker], so_far: MessagesSoFar) -> Turn:
    if not isinstance(message, dict):
        raise wrong_type("", "an object", message)
    role = optional_string_in(message, "role")
    if role is None:
        raise missing(".role", f"one of {', '.join(speakers)}")
    if role not in speakers:
        raise wrong_value(".role", f"must be one of {', '.join(speakers)}, got {quoted(role)}.")
    if message.get("tool_calls") and role != "assistant":
        raise wrong_value(".tool_calls", "may only stand in an assistant message: leave it out here.")
    if message.get("tool_call_id") and role != "tool":
        so_far.stray_id()
    if message.get("name") is not None and role not in ANSWERING:
        so_far.cursor.ledger.drop("name")
    return speakers[role](message, so_far)


# ── who speaks ──


def instructed(role: Role) -> Speaker:
    return lambda message, so_far: (role, content_in(message, "content", so_far.cursor, (str,)))


def user(message: Json, so_far: MessagesSoFar) -> Turn:
    return USER, content_in(message, "content", so_far.cursor, MEDIA_PARTS, CHAT_PARTS)


def assistant(read_calls: CallReader) -> Speaker:
    """Reads an assistant's message in the order in which models work: they think, speak, then call."""

    def speak(message: Json, so_far: MessagesSoFar) -> Turn:
        parts = [*_thoughts(message), *_words(message, so_far)]
        parts += read_calls(message, so_far)
        if not parts and message.get("content") is None:
            raise missing(
                ".content",
                "a string or an array of parts. Only an assistant message with tool_calls or a refusal may do without",
            )
        return ASSISTANT, parts

    return speak


def tool_calls(read_call: CallReader) -> CallReader:
    """Reads all of a message's calls by reading each."""

    def read(message: Json, so_far: MessagesSoFar) -> list[Part]:
        value = message.get("tool_calls")
        calls = [] if value is None else array(value, ".tool_calls")
        so_far.cursor.parts_left -= len(calls)
        if so_far.cursor.parts_left < 0:
            raise too_many(".tool_calls", MAX_PARTS, "calls and content parts, with all before them")
        parts: list[Part] = []
        for index, call in enumerate(calls):
            try:
                if not isinstance(call, dict):
                    raise wrong_type("", "an object", call)
                parts += read_call(call, so_far)
            except FieldFault as fault:
                raise fault.inside(f".tool_calls[{index}]") from None
        return parts

    return read


# ── what the assistant says ──


def _words(message: Json, so_far: MessagesSoFar) -> list[Part]:
    parts: list[Part] = []
    if message.get("content") is not None:
        parts = content_in(message, "content", so_far.cursor, ASSISTANT_PARTS, CHAT_PARTS)
    refusal = optional_string_in(message, "refusal")
    if message.get("audio") is not None:
        so_far.cursor.ledger.drop("audio")  # names what was said aloud on another server
    return [*parts, Refusal(refusal)] if refusal else parts


def _thoughts(message: Json) -> list[Part]:
    """The model's reasoning, in the fields that Chat backends use for it. No API defines them, so a wrong value is no
    reason to refuse the request."""
    details = usable_details(message.get(DETAILS))
    words = _text(message.get("reasoning_content")) or _text(message.get("reasoning")) or readable(details)
    if not words and not details:
        return []
    return [Reasoning(words, detail_extras(details) if details else {})]


def _text(value: Any) -> str:
    """The text, if it has words: a blank in one field must not hide the thought in another."""
    return value if isinstance(value, str) and value.strip() else ""


# ── parts ──


def _file(part: Json) -> Part:
    if part.get("file") is None:
        raise missing(".file", "an object with the file")
    try:
        file = read_file(mapping(part["file"], ""))
    except FieldFault as fault:
        raise fault.inside(".file") from None
    return replace(file, path=f".file{file.path}")


def _video(part: Json) -> Part:
    raise unsupported(".type", "video_url cannot be passed on: send single frames as image_url.")


CHAT_PARTS = {"text": PARTS["text"]} | PARTS | {"file": _file, "video_url": _video}
"""The Responses API's parts, Chat forms included, and those that only Chat has. Chat's own word comes first."""
