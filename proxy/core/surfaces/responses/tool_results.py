"""What the client's tools returned, as items of the Responses surface."""

from typing import Any

from proxy.core import jsontext
from proxy.core.extras import RESPONSES, RUNS
from proxy.core.model import TOOL, USER, Result, Turn
from proxy.core.surfaces.reading.checks import missing, optional_string_in, string_in
from proxy.core.surfaces.reading.content import MEDIA_PARTS, PARTS, InputCursor, Json, content_in


def local_shell_output(item: Json, cursor: InputCursor) -> Turn:
    return output(item if item.get("call_id") is not None else item | {"call_id": item.get("id")}, cursor)


def apply_patch_output(item: Json, cursor: InputCursor) -> Turn:
    """The output is optional, the status is not."""
    status = optional_string_in(item, "status") or "completed"
    text = optional_string_in(item, "output") or f"The patch has {status}."
    return TOOL, [Result(_answered(item), [text], is_error=status == "failed")]


def function_output(item: Json, cursor: InputCursor) -> Turn:
    """Codex sends messages from outside, a heartbeat or another thread's message, as the output of a tool that was not
    called. No backend accepts an output without a call, so it becomes a user's message; its text says what it is."""
    call_id, said = item.get("call_id"), item.get("output")
    if isinstance(said, str) and isinstance(call_id, str):  # as nearly always
        return TOOL, [Result(call_id, [said])]
    if call_id is None and optional_string_in(item, "name"):
        return USER, _returned(item, cursor)
    return output(item, cursor)


def output(item: Json, cursor: InputCursor) -> Turn:
    return TOOL, [Result(_answered(item), _returned(item, cursor) or [""])]


def shell_output(item: Json, cursor: InputCursor) -> Turn:
    """What each command has printed, and how it ended, is kept apart for a backend that can read it so."""
    runs = item.get("output")
    listed = [run for run in runs if isinstance(run, dict)] if isinstance(runs, list) else []
    printed = [run for run in listed if isinstance(run.get("outcome"), dict)]
    extras = {RESPONSES: {RUNS: printed}} if printed and printed == runs else {}
    return TOOL, [Result(_answered(item), _returned(item, cursor) or [""], extras=extras)]


def _answered(item: Json) -> str:
    return string_in(item, "call_id", "", "the id of the call that it answers")


def _returned(item: Json, cursor: InputCursor) -> list[Any]:
    output = item.get("output")
    if isinstance(output, str):
        return [output]
    if "output" not in item:
        raise missing(".output", "what the tool returned")
    if output is None:
        return []
    if _holds_parts(output):
        return content_in(item, "output", cursor, MEDIA_PARTS)
    return [jsontext.compact(output)]


def _holds_parts(output: Any) -> bool:
    """Is it a list of content parts? Otherwise it is any JSON that a tool returned."""
    return isinstance(output, list) and (not output or any(_is_part(value) for value in output))


def _is_part(value: Any) -> bool:
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind in PARTS
