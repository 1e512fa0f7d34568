"""A list of messages, each said by a role: what the Chat Completions surface and its stricter sibling share.

A surface says by a table `role → function` who may speak and how. Each message becomes one turn; which turns belong
together is `history`'s business. Results stand after their calls here: whatever is answered must have been asked by an
earlier message.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from proxy.core.extras import DETAILS, detail_extras, readable, usable_details
from proxy.core.masking.redact import quoted
from proxy.core.model import (
    ASSISTANT,
    USER,
    Call,
    Part,
    Reasoning,
    Refusal,
    Role,
    Text,
    Turn,
)
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
    MAX_PARTS,
    MEDIA_PARTS,
    PARTS,
    InputCursor,
    content_in,
    read_file,
)
from proxy.core.surfaces.reading.history import LocatedTurn
from proxy.core.surfaces.reading.tools import Json

MAX_MESSAGES = 20_000
"""In one request: a message per 50 tokens of a million-token window, and about 40 ms of the event loop."""

ANSWERED = "the id of the call that is answered"

ANSWERING = frozenset({"tool", "function"})
"""The roles whose `name` is that of a tool. Elsewhere it tells participants apart, which few backends can be told."""


ASSISTANT_PARTS = (Text, Refusal, Reasoning)


@dataclass(slots=True)
class MessagesSoFar:
    """One walk over the messages of one request."""

    cursor: InputCursor
    names: dict[str, str] = field(default_factory=dict)
    """Of the called tools, by call id."""
    waiting: Counter[str] = field(default_factory=Counter)
    """How many calls of an id still want their result: backends repeat their ids in each reply."""
    unnumbered: dict[str, list[str]] = field(default_factory=dict)
    """By the name of the function, the ids that were made up for calls in the form that had none."""

    def called(self, call: Call) -> None:
        self.names[call.call_id] = call.tool.name
        self.waiting[call.call_id] += 1

    def answered(self, call_id: str) -> None:
        """Order is meaning here: what no earlier message called has no answer (C02)."""
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


Speaker = Callable[[Json, MessagesSoFar], Turn]
CallReader = Callable[[Json, MessagesSoFar], list[Part]]
"""A call, and before it what must come back with it."""


def read_messages(
    messages: list[Any], speakers: Mapping[str, Speaker], so_far: MessagesSoFar
) -> list[LocatedTurn]:
    if len(messages) > MAX_MESSAGES:
        raise too_many("messages", MAX_MESSAGES, "messages")
    located: list[LocatedTurn] = []
    for index, message in enumerate(messages):
        so_far.cursor.item = index
        path = f"messages[{index}]"
        try:
            turn = _turn(message, speakers, so_far)
        except FieldFault as fault:
            raise fault.inside(path) from None
        located.append((turn, f"{path}.tool_call_id"))
    return located


def _turn(message: Any, speakers: Mapping[str, Speaker], so_far: MessagesSoFar) -> Turn:
    if not isinstance(message, dict):
        raise wrong_type("", "an object", message)
    role = optional_string_in(message, "role")
    if role is None:
        raise missing(".role", f"one of {', '.join(speakers)}")
    if role not in speakers:
        raise wrong_value(".role", f"must be one of {', '.join(speakers)}, got {quoted(role)}.")
    if message.get("tool_calls") and role != "assistant":
        raise wrong_value(".tool_calls", "may only stand in an assistant message: leave it out here.")
    if message.get("name") is not None and role not in ANSWERING:
        so_far.cursor.ledger.drop("name")
    return speakers[role](message, so_far)


# ── who speaks ──


def instructed(role: Role) -> Speaker:
    return lambda message, so_far: Turn(role, content_in(message, "content", so_far.cursor, (Text,)))


def user(message: Json, so_far: MessagesSoFar) -> Turn:
    return Turn(USER, content_in(message, "content", so_far.cursor, MEDIA_PARTS, CHAT_PARTS))


def assistant(read_calls: CallReader) -> Speaker:
    """In the order in which models say things: they think, speak, then call."""

    def speak(message: Json, so_far: MessagesSoFar) -> Turn:
        parts = [*_thoughts(message), *_words(message, so_far)]
        parts += read_calls(message, so_far)
        if not parts and message.get("content") is None:
            raise missing(
                ".content",
                "a string or an array of parts. Only an assistant message with tool_calls or a refusal may do without",
            )
        return Turn(ASSISTANT, parts)

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
    """The model's reasoning, in the fields in which Chat backends tell it. No API defines them, so nothing that stands
    there is a reason to refuse the rest."""
    details = usable_details(message.get(DETAILS))
    words = _text(message.get("reasoning_content")) or _text(message.get("reasoning")) or readable(details)
    if not words and not details:
        return []
    return [Reasoning(words, detail_extras(details) if details else {})]


def _text(value: Any) -> str:
    """With something in it: a blank that stands in one field hides no thought in another."""
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
"""The same as on the Responses surface, which takes the Chat forms too, and what only Chat has; its own word first."""
