"""A Chat Completions server that forgives nothing: what `refuse` lets pass, every known backend takes.

It knows the rules of all of them together (chat-backends, G1 to G12), and what one profile narrows further.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from proxy.core import jsontext
from proxy.core.profile import TUNING, BackendProfile, CallIdForm

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
CALL_IDS: dict[CallIdForm, re.Pattern[str]] = {
    "any": re.compile(r".+", re.DOTALL),
    "len40": re.compile(r"[A-Za-z0-9_.:-]{1,40}"),
    "alnum9": re.compile(r"[A-Za-z0-9]{9}"),
}
BODY = {"model", "messages", "stream", "stream_options", "tools", "tool_choice", "response_format"}
HINTS = {"verbosity", "service_tier", "prompt_cache_key", "prompt_cache_retention", "safety_identifier"}
PARALLEL = {"omit": set(), "obey": {"parallel_tool_calls"}, "false": {"parallel_tool_calls"}}
EFFORT = {
    "none": set(),
    "reasoning_effort": {"reasoning_effort"},
    "thinking": {"thinking", "reasoning_effort"},
    "enable_thinking": {"enable_thinking"},
    "template": {"chat_template_kwargs"},
    "reasoning": {"reasoning"},
}
REPLAY = {
    "none": set(),
    "think_tags": set(),
    "reasoning": {"reasoning"},
    "reasoning_content": {"reasoning_content"},
    "reasoning_details": {"reasoning", "reasoning_details"},
}
CHOICES = {
    "object": {"none", "required"},
    "required": {"none", "required"},
    "any": {"none", "any"},
    "auto": set(),
}
PARTS = {"text", "image_url", "input_audio", "file"}


def refuse(body: dict[str, Any], profile: BackendProfile) -> None:
    """AssertionError, in words, for whatever some server of this kind would refuse or misunderstand."""
    _body(body, profile)
    _tools(body, profile)
    _order(body["messages"], profile)
    for message in body["messages"]:
        _message(message, profile)
    _calls(body["messages"], profile)


def _body(body: dict[str, Any], profile: BackendProfile) -> None:
    known = BODY | {profile.length_field} | (profile.tuning & (TUNING | HINTS))
    known |= PARALLEL[profile.parallel] | EFFORT[profile.effort_field] | profile.extra.keys()
    assert body.keys() <= known, f"unknown fields {body.keys() - known}"
    for name, value in body.items():
        if name not in ("tools", "response_format"):
            assert not list(_nulls(value, name)), f"null in {list(_nulls(value, name))}"
    assert body["model"]
    assert isinstance(body["stream"], bool)
    if "stream_options" in body:
        assert body["stream"], "stream_options without stream"
        assert profile.usage == "ask", "stream_options that nobody asked for"
    if "response_format" in body:
        assert body["response_format"]["type"] in profile.formats, "a format that is not known"
        assert profile.format_with_tools or "tools" not in body, "a format beside tools"
        if body["response_format"]["type"] == "json_schema":
            assert NAME.fullmatch(body["response_format"]["json_schema"]["name"])
    if profile.length_default:
        assert profile.length_field in body, "no limit where the backend's own is too small"


def _nulls(value: Any, place: str) -> Iterator[str]:
    if value is None:
        yield place
    if isinstance(value, dict):
        for key, inner in value.items():
            if key != "reasoning_details":
                yield from _nulls(inner, f"{place}.{key}")
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _nulls(inner, f"{place}[{index}]")


def _tools(body: dict[str, Any], profile: BackendProfile) -> None:
    if "tools" not in body:
        assert not body.keys() & {"tool_choice", "parallel_tool_calls"}, "a choice among no tools"
        return
    assert 0 < len(body["tools"]) <= profile.max_tools, "tools: none, or too many"
    for tool in body["tools"]:
        assert tool.keys() == {"type", "function"}
        assert tool["type"] == "function"
        function = tool["function"]
        optional = {"description", "strict"} if profile.strict_tools else {"description"}
        assert function.keys() - optional == {"name", "parameters"}, "foreign or missing fields of a tool"
        assert NAME.fullmatch(function["name"])
        assert function.get("description", "x")
        assert function["parameters"]["type"] == "object"
        assert isinstance(function["parameters"]["properties"], dict)
    names = [tool["function"]["name"] for tool in body["tools"]]
    assert len(set(names)) == len(names), "two tools of one name"
    choice = body.get("tool_choice", "none")
    if isinstance(choice, dict):
        assert profile.force_tool == "object"
        assert choice == {"type": "function", "function": {"name": choice["function"]["name"]}}
        assert choice["function"]["name"] in names, "forced to call what is not declared"
    elif "tool_choice" in body:
        assert choice in CHOICES[profile.force_tool], f"tool_choice {choice}"


def _order(messages: list[dict[str, Any]], profile: BackendProfile) -> None:
    roles = [message["role"] for message in messages]
    instructions = profile.system_role
    talk = roles[1:] if roles[0] == instructions else roles
    allowed = {"user", "assistant", "tool"} | ({instructions} if profile.late_system == "keep" else set())
    assert set(talk) <= allowed, f"roles {roles}"
    assert talk[:1] == ["user"], "does not begin with a user"
    assert talk[-1] in ("user", "tool"), "does not end with what wants an answer"
    for before, after in pairwise(roles):
        assert (before, after) != ("assistant", "assistant"), "two assistant messages in a row"
        assert (before, after) != ("user", "user") or not profile.join_users, "two user messages in a row"
        assert (before, after) != ("tool", "user") or not profile.after_tool, "a user right after a tool"


def _message(message: dict[str, Any], profile: BackendProfile) -> None:
    role, content = message["role"], message["content"]
    known = {"role", "content"}
    if role == "assistant":
        known |= {"tool_calls"} | REPLAY[profile.replay]
        if profile.replay == "none" and profile.replay_by_evidence:
            known |= REPLAY["reasoning_details"] | REPLAY["reasoning_content"]
        assert isinstance(content, str)
        assert content or message.get("tool_calls"), "an empty assistant message"
        assert len(message.keys() & {"reasoning", "reasoning_content", "reasoning_details"}) <= 1
    elif role == "tool":
        known |= {"tool_call_id"}
        assert isinstance(content, str), "a tool message that is no string"
    elif role == "user":
        assert content, "an empty user message"
        if isinstance(content, list):
            _parts(content, profile)
    else:
        assert isinstance(content, str), "instructions that are no string"
        assert content, "empty instructions"
    assert message.keys() <= known, f"foreign fields {message.keys() - known}"


def _parts(parts: list[dict[str, Any]], profile: BackendProfile) -> None:
    assert any(part["type"] != "text" for part in parts), "text that could be a string"
    for part in parts:
        assert part["type"] in PARTS
        assert part.keys() == {"type", part["type"]}
        if part["type"] == "text":
            assert part["text"], "an empty text part"
        if part["type"] == "image_url":
            assert profile.images != "none"
            assert profile.images == "any" or part["image_url"]["url"].startswith("data:")
        assert part["type"] != "file" or profile.files


def _calls(messages: list[dict[str, Any]], profile: BackendProfile) -> None:
    """Each message's calls are answered by the messages right after it, in call order, and nothing else is."""
    expected: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert expected, "an answer to no call"
            assert message["tool_call_id"] == expected.pop(0), "answers out of order"
            continue
        assert not expected, "calls without their answers"
        for call in message.get("tool_calls", []):
            assert call.keys() - ({"extra_content"} if profile.signed_calls else set()) == {
                "id",
                "type",
                "function",
            }
            assert call["type"] == "function"
            assert call["function"].keys() == {"name", "arguments"}
            assert NAME.fullmatch(call["function"]["name"])
            assert isinstance(jsontext.strict(call["function"]["arguments"]), dict), (
                "arguments that are no object"
            )
            assert CALL_IDS[profile.call_id].fullmatch(call["id"])
            assert call["id"] not in seen, "one id for two calls"
            seen.add(call["id"])
            expected.append(call["id"])
        assert not message.get("tool_calls") or expected
    assert not expected, "calls without their answers"
