"""The differences that an examination has to find, each with what it should say of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from proxy.core.backends.profiles import PROFILES
from tests.support import planted
from tests.support.planted import Difference, Json, refuses, says

REFUSED = "Unsupported parameter: 'reasoning_effort'"
THINKING_BESIDE_TOOLS = (
    "Function tools with reasoning_effort are not supported for demo in /v1/chat/completions."
)


@dataclass(frozen=True)
class Case:
    row: str
    """The aspect that shows the difference."""
    difference: Difference
    overrides: Mapping[str, Any] = field(default_factory=dict)
    assumed: Mapping[str, Any] = field(default_factory=dict)
    """What the profile says besides, for this test."""
    model: str = "demo"
    window: int | None = None
    standing: str = "worse"
    remains: bool = False
    """Is the row as bad with the overrides as before, because nothing can be set?"""


def _without(chunks: list[Json], wrong: Callable[[Json], bool]) -> list[Json]:
    return [chunk for chunk in chunks if not wrong(chunk)]


def _no_usage(body: Json, chunks: list[Json]) -> list[Json]:
    return _without(chunks, lambda chunk: bool(chunk.get("usage")))


def _drop_system(body: Json) -> None:
    body["messages"] = [message for message in body["messages"] if message["role"] != "developer"]


def _is_late_system(body: Json) -> bool:
    return any(role in ("system", "developer") for role in planted.roles(body)[1:])


def _drop_images(body: Json) -> None:
    for message in body["messages"]:
        if isinstance(message["content"], list):
            message["content"] = [part for part in message["content"] if part["type"] != "image_url"]


def _is_named(body: Json) -> bool:
    return isinstance(body.get("tool_choice"), dict)


def _any_tool(body: Json) -> None:
    if _is_named(body):
        del body["tool_choice"]


def _any_for_required(body: Json) -> None:
    _any_tool(body)
    if body.get("tool_choice") == "required":
        del body["tool_choice"]
    if body.get("tool_choice") == "any":
        body["tool_choice"] = "required"


def _schema_is_not_obeyed(body: Json, chunks: list[Json]) -> list[Json]:
    if any(tool.get("strict") for tool in planted.tools(body)):
        for call in _called(chunks):
            if call["function"].get("arguments"):
                call["function"]["arguments"] = call["function"]["arguments"].replace("Lisbon", "Atlantis")
    return chunks


def _called(chunks: list[Json]) -> list[Json]:
    return [call for delta in planted.deltas(chunks) for call in delta.get("tool_calls", ())]


def _has_bounds(body: Json) -> bool:
    return any("4000" in str(tool["parameters"]) for tool in planted.tools(body))


def _user_after_tool(body: Json) -> bool:
    roles = planted.roles(body)
    return ("tool", "user") in pairwise(roles)


def _has_long_ids(body: Json) -> bool:
    return any(len(call_id) != 9 for call_id in planted.call_ids(body))


def _tells_calls_without_tools(body: Json) -> bool:
    return any(planted.call_ids(body)) and "tools" not in body


def _format_wins(body: Json) -> None:
    if "response_format" in body:
        body.pop("tools", None)
        body.pop("tool_choice", None)


def _cut_without_limit(body: Json) -> None:
    if "max_completion_tokens" not in body:
        body["max_completion_tokens"] = 4


def _leak(body: Json, chunks: list[Json]) -> list[Json]:
    """Writes the calls into the text, as Hermes has them."""
    calls = [call["function"] for call in _called(chunks)]
    if not calls:
        return chunks
    arguments = "".join(function.get("arguments", "") for function in calls).split("}")[0] + "}"
    text = f'<tool_call>\n{{"name": "{calls[0]["name"]}", "arguments": {arguments}}}\n</tool_call>'
    first, *_, finish = _without(chunks, lambda chunk: bool(chunk.get("usage")))
    finish["choices"][0]["finish_reason"] = "stop"
    said = {**first, "choices": [{**first["choices"][0], "delta": {"content": text}}]}
    return [first, said, finish, chunks[-1]]


def _new_id_each(body: Json, chunks: list[Json]) -> list[Json]:
    for index, call in enumerate(_called(chunks)):
        call["id"] = f"call_{index}"
    return chunks


def _in_other_choices(body: Json, chunks: list[Json]) -> list[Json]:
    for chunk in chunks:
        for choice in chunk["choices"]:
            if choice["delta"].get("tool_calls"):
                choice["index"] = 1
    return chunks


def _proofs(body: Json, chunks: list[Json]) -> list[Json]:
    for call in _called(chunks):
        call["extra_content"] = {"google": {"thought_signature": "c2ln"}}
    return chunks


def _unopened(body: Json, chunks: list[Json]) -> list[Json]:
    for delta in planted.deltas(chunks):
        if delta.get("content"):
            delta["content"] = "The user asks.\n</think>\n\n" + delta["content"]
            break
    return chunks


def _rereads(body: Json) -> None:
    """Takes the thoughts of a call, and wants them."""
    for message in body["messages"]:
        if message.get("tool_calls"):
            if not message.pop("reasoning_content", None):
                refuses(lambda _: True, "The `reasoning_content` must be passed back to the API.").before(
                    body
                )  # type: ignore[misc]
        else:
            message.pop("reasoning_content", None)


def _reads_if_there(body: Json) -> None:
    for message in body["messages"]:
        if thought := message.pop("reasoning_content", None):
            message["content"] = (message["content"] or "") + thought


def _no_effort(body: Json) -> None:
    refuses(lambda asked: "reasoning_effort" in asked, REFUSED).before(body)  # type: ignore[misc]
    if body.pop("enable_thinking", True) is False:
        body["model"] = "demo"


def _takes_address(body: Json) -> bool:
    return any(part["image_url"]["url"].startswith("http") for part in planted.parts(body, "image_url"))


def _is_nonsense(body: Json) -> bool:
    return not isinstance(body["messages"], list)


def _thinks_beside_tools(body: Json) -> bool:
    return body.get("reasoning_effort", "none") != "none" and "tools" in body


def _is_long(body: Json) -> bool:
    return len(str(body["messages"])) > 10_000


OPTIONS = PROFILES["openai"].tuning

CASES: Mapping[str, Case] = {
    "no limit by this name": Case(
        "limit of answers", planted.refuses_field("max_completion_tokens"), {"length_field": "max_tokens"}
    ),
    "limit in vain": Case(
        "limit of answers", planted.ignores("max_completion_tokens"), {"length_field": "max_tokens"}
    ),
    "short without a limit": Case(
        "answers without a limit", planted.changes(_cut_without_limit), {"length_default": 4096}
    ),
    "no wish for counts": Case(
        "token counts",
        planted.refuses_field("stream_options"),
        {"usage": "never", "usage_when_whole": True},
        remains=True,
    ),
    "counts only with whole answers": Case("token counts", says(_no_usage), {"usage_when_whole": True}),
    "no developer": Case(
        "word for instructions",
        refuses(lambda body: "developer" in planted.roles(body)),
        {"system_role": "system"},
    ),
    "developer in vain": Case(
        "word for instructions", planted.changes(_drop_system), {"system_role": "system"}
    ),
    "instructions first": Case(
        "late instructions",
        refuses(_is_late_system, "System message must be at the beginning."),
        {"late_system": "user"},
    ),
    "alternating": Case(
        "neighbouring user messages",
        refuses(lambda body: "user user" in " ".join(planted.roles(body)), "roles must alternate"),
        {"join_users": True},
        assumed={"join_users": False},
    ),
    "no images": Case(
        "images", refuses(lambda body: planted.parts(body, "image_url"), status=500), {"images": "none"}
    ),
    "images in vain": Case("images", planted.changes(_drop_images), {"images": "none"}),
    "no addresses": Case(
        "images", refuses(_takes_address, "image URLs are not currently supported"), {"images": "data"}
    ),
    "no files": Case("files", refuses(lambda body: planted.parts(body, "file")), {"files": False}),
    "no sound": Case("sound", refuses(lambda body: planted.parts(body, "input_audio")), {"audio": False}),
    "no tools": Case("tools", refuses(planted.tools, "does not support tools"), {"max_tools": 0}),
    "tools by force": Case(
        "tools", refuses(lambda body: planted.tools(body) and "tool_choice" not in body), remains=True
    ),
    "no names of tools": Case(
        "forced calls", refuses(_is_named, "Invalid tool_choice"), {"force_tool": "required"}
    ),
    "named in vain": Case("forced calls", planted.changes(_any_tool), {"force_tool": "required"}),
    "another word for it": Case(
        "forced calls",
        planted.changes(_any_for_required),
        {"force_tool": "any"},
    ),
    "forced in vain": Case("forced calls", planted.ignores("tool_choice"), {"force_tool": "auto"}),
    "parallel in vain": Case(
        "one call at a time", planted.ignores("parallel_tool_calls"), {"parallel": "omit"}
    ),
    "no word for parallel": Case(
        "one call at a time", planted.refuses_field("parallel_tool_calls"), {"parallel": "omit"}
    ),
    "one at a time": Case(
        "one call at a time",
        refuses(
            lambda body: "London" in str(body) and "parallel_tool_calls" not in body,
            "This model only supports single tool-calls at once!",
        ),
        {"parallel": "false"},
    ),
    "no strict": Case(
        "strict tools",
        refuses(lambda body: any("strict" in tool for tool in planted.tools(body))),
        {"strict_tools": False},
    ),
    "strict in vain": Case("strict tools", says(_schema_is_not_obeyed), {"strict_tools": False}),
    "letters first": Case(
        "names of tools",
        refuses(lambda body: any(tool["name"][0].isdigit() for tool in planted.tools(body))),
        {"tool_names": "letter_first"},
    ),
    "few tools": Case(
        "number of tools", refuses(lambda body: len(planted.tools(body)) > 40), {"max_tools": 32}
    ),
    "no references": Case(
        "schemas of tools",
        refuses(lambda body: "$ref" in str(planted.tools(body))),
        {"schema": frozenset({"plain", "inline"})},
    ),
    "no large bounds": Case(
        "schemas of tools",
        refuses(_has_bounds, "failed to parse grammar"),
        {"schema": frozenset({"plain", "bounded"})},
    ),
    "no user after a tool": Case(
        "user after a result",
        refuses(_user_after_tool, "Unexpected role 'user' after role 'tool'"),
        {"after_tool": "Done."},
    ),
    "nine letters": Case("call ids", refuses(_has_long_ids), {"call_id": "alnum9"}),
    "calls need tools": Case(
        "calls without tools", refuses(_tells_calls_without_tools), {"orphan_tools": "declare"}
    ),
    "form in vain": Case(
        "structured output",
        planted.ignores("response_format"),
        {"formats": frozenset()},
    ),
    "no form of any object": Case(
        "structured output",
        refuses(
            lambda body: body.get("response_format", {}).get("type") == "json_object",
            "'response_format.type' must be 'json_schema' or 'text'",
        ),
        {"formats": frozenset({"json_schema"})},
    ),
    "form instead of calls": Case(
        "structured output beside tools", planted.changes(_format_wins), {"format_with_tools": False}
    ),
    "no effort": Case(
        "reasoning effort", planted.refuses_field("reasoning_effort"), {"effort_field": "none"}
    ),
    "another switch": Case(
        "reasoning effort",
        planted.changes(_no_effort),
        {"effort_field": "enable_thinking"},
        model="demo-think",
    ),
    "few efforts": Case(
        "words for effort",
        refuses(lambda body: body.get("reasoning_effort") in ("minimal", "xhigh")),
        {
            "effort_map": {
                "minimal": "none",
                "xhigh": "high",
                "max": "high",
            }
        },
    ),
    "no thoughts beside tools": Case(
        "reasoning beside tools",
        refuses(_thinks_beside_tools, THINKING_BESIDE_TOOLS),
        {"thinks_beside_tools": False},
    ),
    "thoughts must go back": Case(
        "reasoning goes back",
        planted.changes(_rereads),
        {"replay": "reasoning_content", "replay_blank": " ", "replay_scope": "all"},
        model="demo-think",
    ),
    "thoughts may go back": Case(
        "reasoning goes back",
        planted.changes(_reads_if_there),
        {"replay": "reasoning_content"},
        model="demo-think",
        standing="better",
    ),
    "thoughts must not go back": Case(
        "reasoning goes back",
        Difference(),
        {"replay": "none"},
        assumed={"replay": "reasoning"},
        remains=False,
    ),
    "no seed": Case(
        "options",
        planted.refuses_field("seed"),
        {"tuning": frozenset(OPTIONS) - {"seed"}},
    ),
    "no chances": Case(
        "options",
        planted.refuses_field("logprobs"),
        {"tuning": frozenset(OPTIONS) - {"logprobs", "top_logprobs"}},
    ),
    "crashes": Case(
        "wrong request", replace(refuses(_is_nonsense, "Oh no.", 500), of_nonsense=True), remains=True
    ),
    "overflows in other words": Case(
        "conversation too long", refuses(_is_long, "Zu lang."), window=4000, remains=True
    ),
    "overflows in silence": Case("conversation too long", Difference(), window=4000, remains=True),
    "calls in text": Case("calls in the text", says(_leak), {"markup": True}, assumed={"markup": False}),
    "calls in text of a rare form": Case(
        "calls in the text",
        says(_leak),
        {"markup_without": frozenset(), "markup_formats": frozenset({"hermes"})},
        assumed={"markup_without": frozenset({"hermes"})},
    ),
    "ids that change": Case("how calls are told apart", says(_new_id_each), {"call_identity": "index"}),
    "calls in other choices": Case(
        "how calls are told apart",
        Difference(None, lambda body, chunks: _in_other_choices(body, chunks)),
        {"calls_in_other_choices": True},
    ),
    "calls with proofs": Case("how calls are told apart", says(_proofs), {"signed_calls": True}),
    "thoughts without a beginning": Case(
        "thoughts in the text", says(_unopened), {"thoughts_until": "</think>"}
    ),
    "no counter there": Case(
        "counter of tokens", Difference(), {"counter": "none"}, assumed={"counter": "vllm"}
    ),
}
