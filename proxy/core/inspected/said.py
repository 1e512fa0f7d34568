"""What the model itself wrote: the text of a backend's reply before anything was taken out of it or mended."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from proxy.core import jsontext
from proxy.core.dialects.registry import spoken_by
from proxy.core.errors import Fault
from proxy.core.events import CallDelta, Delta, ReasoningDelta, RefusalDelta, TextDelta
from proxy.core.ledger import Ledger
from proxy.core.profile import BackendProfile
from proxy.core.stream.intake import Intake

MOST_CHARACTERS: Final = 400_000
"""Of each kind of text."""


@dataclass(slots=True)
class SaidCall:
    """A call, as far as it came."""

    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Said:
    """What was said in a reply, all of one kind together."""

    text: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[SaidCall] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "text": _joined(self.text),
            "thoughts": _joined(self.thoughts),
            "calls": [{"name": call.name, "arguments": _joined(call.arguments)} for call in self.calls],
        }


def _joined(pieces: list[str]) -> str:
    return "".join(pieces)[:MOST_CHARACTERS]


def said_by_model(reads: Iterable[bytes], profile: BackendProfile) -> Said:
    """What the model said, read by the decoder that read the reply first, so that every dialect and all its oddities
    are understood."""
    said = Said()
    by_index: dict[object, SaidCall] = {}

    def take(delta: Delta) -> None:
        if isinstance(delta, TextDelta | RefusalDelta):
            said.text.append(delta.text)
        elif isinstance(delta, ReasoningDelta):
            said.thoughts.append(delta.text)
        elif isinstance(delta, CallDelta):
            _add(said.calls, by_index, delta)

    intake = Intake(spoken_by(profile).decoder(take, profile, Ledger(details=False)))
    try:
        for data in reads:
            intake.feed(data)
        intake.close()
    except Fault:
        pass  # what came before it counts; the fault itself is told elsewhere
    return said


def _add(calls: list[SaidCall], by_index: dict[object, SaidCall], delta: CallDelta) -> None:
    key = delta.id if delta.index is None else delta.index
    call = by_index.get(key)
    if call is None:
        call = by_index[key] = SaidCall()
        calls.append(call)
    call.name = call.name or delta.name or ""
    call.arguments.append(delta.arguments)


def said_to_client(events: Iterable[str], answer: Any) -> Said:
    """What the client got: by the `events` of a stream, as JSON texts, or by the whole `answer`."""
    said = Said()
    by_index: dict[object, SaidCall] = {}
    for data in events:
        try:
            event = jsontext.quick(data)
        except ValueError:
            continue  # the end mark
        if not isinstance(event, dict):
            continue
        _take_responses_event(said, by_index, event)
        for choice in _objects(event.get("choices")):
            _take_chat_message(said, by_index, choice.get("delta"))
    if isinstance(answer, dict):
        for item in _objects(answer.get("output")):
            _take_item(said, item)
        for choice in _objects(answer.get("choices")):
            _take_chat_message(said, by_index, choice.get("message"))
    return said


def _take_responses_event(said: Said, by_index: dict[object, SaidCall], event: dict[str, Any]) -> None:
    match event.get("type"):
        case "response.output_text.delta" | "response.refusal.delta":
            said.text.append(_string(event.get("delta")))
        case "response.reasoning_text.delta" | "response.reasoning_summary_text.delta":
            said.thoughts.append(_string(event.get("delta")))
        case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
            if (call := by_index.get(event.get("output_index"))) is not None:
                call.arguments.append(_string(event.get("delta")))
        case "response.output_item.added" | "response.output_item.done":
            item, index = event.get("item"), event.get("output_index")
            if isinstance(item, dict) and item.get("type") not in ("message", "reasoning"):
                if index not in by_index:
                    said.calls.append(by_index.setdefault(index, SaidCall()))
                _fill(by_index[index], item)
        case _:
            pass


def _take_item(said: Said, item: dict[str, Any]) -> None:
    match item.get("type"):
        case "message":
            parts = _objects(item.get("content"))
            said.text.extend(_string(part.get("text", part.get("refusal"))) for part in parts)
        case "reasoning":
            parts = [*_objects(item.get("summary")), *_objects(item.get("content"))]
            said.thoughts.extend(_string(part.get("text")) for part in parts)
        case _:
            said.calls.append(SaidCall())
            _fill(said.calls[-1], item)


def _fill(call: SaidCall, item: dict[str, Any]) -> None:
    arguments = item.get("arguments", item.get("input", item.get("action", "")))
    call.name = _string(item.get("name")) or _string(item.get("type"))
    call.arguments = [arguments if isinstance(arguments, str) else jsontext.compact(arguments)]


def _take_chat_message(said: Said, by_index: dict[object, SaidCall], message: Any) -> None:
    if not isinstance(message, dict):
        return
    said.text += (_string(message.get("content")), _string(message.get("refusal")))
    said.thoughts.append(_string(message.get("reasoning_content")))
    for number, call in enumerate(_objects(message.get("tool_calls"))):
        function = call.get("function")
        if isinstance(function, dict):
            index = call.get("index", number)
            name, arguments = _string(function.get("name")), _string(function.get("arguments"))
            _add(said.calls, by_index, CallDelta(index, None, name, arguments))


def _objects(value: Any) -> list[dict[str, Any]]:
    return [inner for inner in value if isinstance(inner, dict)] if isinstance(value, list) else []


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
