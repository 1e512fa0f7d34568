"""Who reads what clients send, each with inputs that grow: decoded, admitted, and put into the words of a backend."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from itertools import count
from typing import Any

from proxy.core import jsontext
from proxy.core.backends import profiles
from proxy.core.backends.target import Target
from proxy.core.dialects.registry import counter_of
from proxy.core.errors import Fault
from proxy.core.flow.request import Asker, admitted, prepared_for
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Reasoning, Request, Role, ToolKind, ToolName
from proxy.core.policy.hosts import Hosts
from proxy.core.profile import BackendProfile, overridden
from proxy.core.schemas.strictness import first_problem
from proxy.core.surfaces.clients import DEFAULT
from proxy.core.surfaces.memory.call_ids import CallMap, CallMaps
from proxy.core.surfaces.memory.memos import CallId, Thoughts, packed_id, packed_thoughts
from proxy.core.surfaces.memory.reasoning import ReasoningMemory
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.native.decode import named
from proxy.core.surfaces.reading.parsing import parsed
from proxy.core.surfaces.responses.counting import requested
from proxy.core.surfaces.responses.metadata import checked_metadata
from proxy.core.tenants import Mode, Tenant
from proxy.core.tools import arguments
from proxy.core.weight import LIGHT_BYTES, weighed
from tests.growth.work import Make
from tests.support import chat_asks, responses_asks
from tests.support.replies import RESPONSES

Json = dict[str, Any]

SURELY_TAKEN = 100
"""Of anything in a request. Where there is more of it, a limit may refuse it, which ends the growth."""

URL = "http://backend.test/v1"
ASKER = Asker(
    RESPONSES,
    DEFAULT,
    Tenant("growth", limits_mode=Mode.WARN, tool_allowlist=("f*", "weather"), tool_result_max_bytes=3),
)
"""With rules that have something to look at in each request."""

_UNSEEN = count()

_FUNCTION: Json = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^a+$"}}}


def _asked(
    profile: str | BackendProfile,
    body: Callable[[int], Json],
    decode: Callable[..., Any] = responses_asks.ask,
) -> Make:
    """Decoded, admitted and put into a backend's words."""

    def make(n: int) -> Callable[[], object]:
        fields = body(n)
        if "tools" in fields:  # so that they are not remembered, as their schemas are
            fields["tools"] = [*fields["tools"], {"type": "unheard_of", "number": next(_UNSEEN)}]
        known = profiles.PROFILES[profile] if isinstance(profile, str) else profile

        def work() -> None:
            with suppress(Fault) if n > SURELY_TAKEN else nullcontext():
                ledger = Ledger()
                request = decode(ledger, **fields)
                request = admitted(getattr(request, "request", request), ASKER, ledger)
                prepared_for(request, Target("growth", URL, known), "m", URL, ledger)

        return work

    return make


def _items(n: int) -> Json:
    items: list[Json] = []
    for i in range(n):
        items += [
            responses_asks.user(
                [
                    {"type": "input_text", "text": "a"},
                    {"type": "input_image", "image_url": "data:image/png;base64,aaaa"},
                ]
            ),
            {"type": "reasoning", "id": f"rs_{i}", "summary": [{"type": "summary_text", "text": "b"}]},
            responses_asks.call(f"c{i}", arguments='{"a":"b"}'),
            responses_asks.output(f"c{i}", "Error: c"),
            responses_asks.assistant("d"),
            {"type": "message", "role": "developer", "content": "e"},
        ]
    return {"input": items, "tools": [responses_asks.WEATHER]}


_NATIVE = overridden(
    profiles.PROFILES["openai"],
    {"wire": "responses", "native_tools": ["custom", "shell", "apply_patch", "local_shell", "namespace"]},
)
_RUN = {"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}


def _calls_of_all_kinds(n: int) -> Json:
    items: list[Json] = []
    for i in range(n):
        shell, local, patch = f"s{i}", f"l{i}", f"p{i}"
        operation = {"type": "update_file", "path": "a", "diff": "@@"}
        items += [
            {"type": "shell_call", "call_id": shell, "action": {"commands": ["ls"], "timeout_ms": 1}},
            {"type": "shell_call_output", "call_id": shell, "output": [_RUN]},
            {"type": "local_shell_call", "call_id": local, "action": {"type": "exec", "command": ["ls"]}},
            {"type": "local_shell_call_output", "call_id": local, "output": "a"},
            {"type": "apply_patch_call", "call_id": patch, "operation": operation},
            {"type": "apply_patch_call_output", "call_id": patch, "status": "failed"},
        ]
    inner = [{"type": "function", "name": f"f{i}"} for i in range(min(n, 99))]
    free = [{"type": "custom", "name": f"f_{i}"} for i in range(min(n, 99))]
    tools = [{"type": "namespace", "name": "f", "tools": [*inner, *free]}]
    return {"input": [responses_asks.user("a"), *items], "tools": tools}


def _calls_then_outputs(n: int) -> Json:
    calls = [responses_asks.call(f"c{i}") for i in range(n)]
    outputs = [responses_asks.output(f"c{i}") for i in reversed(range(n))]
    return {"input": [responses_asks.user("a"), *calls, *outputs], "tools": [responses_asks.WEATHER]}


def _equal_ids(n: int) -> Json:
    items = [one for _ in range(n) for one in (responses_asks.call("c"), responses_asks.output("c"))]
    return {"input": [responses_asks.user("a"), *items], "tools": [responses_asks.WEATHER]}


def _chat_messages(n: int) -> Json:
    said: list[Json] = [chat_asks.HI]
    for i in range(n):
        said += [
            chat_asks.assistant(chat_asks.called(f"c{i}"), content="a", reasoning_content="b"),
            chat_asks.returned(f"c{i}"),
            {"role": "user", "content": [{"type": "text", "text": "a"}]},
        ]
    return {"messages": said, "tools": [chat_asks.tool()]}


def _details(n: int) -> Json:
    details = [{"type": "reasoning.text", "text": "a"}] * n
    said = [chat_asks.HI, chat_asks.assistant(content="a", reasoning_details=details), chat_asks.HI]
    return {"messages": said}


def _tools(schema: Callable[[int], Json]) -> Callable[[int], Json]:
    return lambda n: {"tools": [{"type": "function", "name": "f", "parameters": schema(n)}]}


def _many_tools(n: int) -> Json:
    return {"tools": [{"type": "function", "name": f"f{i}", "parameters": _FUNCTION} for i in range(n)]}


def _properties(n: int) -> Json:
    return {"type": "object", "properties": {f"p{i}": {"type": "string", "format": "date"} for i in range(n)}}


def _nullable(n: int) -> Json:
    kinds = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    return {
        "type": "object",
        "properties": {f"p{i}": kinds for i in range(n)},
        "required": [f"p{i}" for i in range(n)],
    }


def _deep(n: int) -> Json:
    schema: Json = {"type": "string"}
    for _ in range(n):
        schema = {"type": "array", "items": schema}
    return {"type": "object", "properties": {"a": schema}}


def _referring(n: int) -> Json:
    return {
        "type": "object",
        "properties": {f"p{i}": {"$ref": f"#/$defs/d{i}"} for i in range(n)},
        "$defs": {f"d{i}": {"type": "integer"} for i in range(n)},
    }


def _values(n: int) -> Json:
    return {"type": "object", "properties": {"a": {"enum": [f"v{i}" for i in range(n)]}}}


def _required(n: int) -> Json:
    return {
        "type": "object",
        "properties": {f"p{i}": {} for i in range(n)},
        "required": [f"p{i}" for i in range(n)],
    }


SCHEMAS = {
    "properties": _properties,
    "properties that may be null": _nullable,
    "references": _referring,
    "values": _values,
    "required": _required,
}


def _checked(schema: Json, call: Callable[[int], Any]) -> Make:
    def make(n: int) -> Callable[[], object]:
        written = jsontext.dumps(schema)
        text = jsontext.compact(call(n))
        return lambda: arguments.verdict(written, text)

    return make


def _signed(n: int) -> Callable[[], object]:
    maps = CallMaps(TokenSigner("a secret"))
    messages = _chat_messages(n)["messages"]
    for message in messages:
        message.pop("reasoning_content", None)
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = {}

    def work() -> None:
        with suppress(Fault) if n > SURELY_TAKEN else nullcontext():
            chat_asks.native({}, maps, messages=messages, tools=[chat_asks.native_tool()])

    return work


def _shared(n: int) -> Callable[[], object]:
    """By its conversation, whose calls another process has told of."""
    messages = _chat_messages(n)["messages"]
    body = {"conversation_id": "c", "messages": messages}

    def work() -> None:
        maps, learned = CallMaps(TokenSigner("a secret")), CallMap(TokenSigner("a secret"))
        conversation, call_ids = named(body)
        keys = maps.lacking("t", conversation or "", call_ids)
        learned.learn_from(packed_id(CallId(key, key)) for key in keys)

    return work


def _thought_elsewhere(n: int) -> Callable[[], object]:
    calls = [Call(str(at), ToolName("f"), ToolKind.FUNCTION, "{}") for at in range(n)]
    request = Request("m", [(Role.ASSISTANT, [call]) for call in calls])
    memo = packed_thoughts(Thoughts([Reasoning("a")] * n, [Reasoning("b")], None))

    def work() -> None:
        memory = ReasoningMemory()
        for call_id in memory.lacking("me", request)[:1]:
            memory.learn("me", {call_id: memo}, request, "ann")
        memory.restored_into("me", request)

    return work


def _counted(profile: str) -> Make:
    """Asked how many tokens it has."""

    def make(n: int) -> Callable[[], object]:
        fields, known = _items(n), profiles.PROFILES[profile]
        target = Target("growth", URL, known)

        def work() -> None:
            with suppress(Fault) if n > SURELY_TAKEN else nullcontext():
                request = responses_asks.ask(Ledger(), **requested(fields))
                prepared_for(request, target, "m", URL, Ledger(), counter_of(known))

        return work

    return make


def _strict(n: int) -> Callable[[], object]:
    schema = _required(n) | {"additionalProperties": False}
    return lambda: first_problem(schema)


def _parsed(n: int) -> Callable[[], object]:
    body = b'{"input":[' + b'{"a":["b",1,null]},' * n + b"0]}"

    def work() -> None:
        with suppress(Fault) if n > SURELY_TAKEN else nullcontext():
            parsed(body, "It", "")

    return work


def _weighed(n: int) -> Callable[[], object]:
    value = {"input": [{"a": ["b", 1, None]}] * n}
    text = jsontext.dumps(value) + b" " * LIGHT_BYTES
    return lambda: weighed(value, text)


def _host(n: int) -> Callable[[], object]:
    def work() -> None:
        with suppress(Fault):
            Hosts(["a"]).check(["a." * n + ":80"])

    return work


def _labels(n: int) -> Callable[[], object]:
    pairs = {"k": "v" * n}

    def work() -> None:
        with suppress(Fault):
            checked_metadata(pairs)

    return work


REQUESTS: Mapping[str, Make] = {
    "a host": _host,
    "metadata": _labels,
    "the body of a request": _parsed,
    "the weight of a body": _weighed,
    **{
        f"{name} to {profile}": _asked(profile, body)
        for profile in ("default", "anthropic", "google", "deepseek")
        for name, body in {
            "items": _items,
            "calls, then outputs": _calls_then_outputs,
            "calls of one id": _equal_ids,
        }.items()
    },
    "items to a backend that has the API": _asked(
        replace(profiles.PROFILES["openai"], wire="responses"), _items
    ),
    "calls of all kinds": _asked(_NATIVE, _calls_of_all_kinds),
    **{f"items counted by {name}": _counted(name) for name in ("anthropic", "google", "vllm")},
    "strict": _strict,
    "many tools": _asked("default", _many_tools),
    "messages": _asked("default", _chat_messages, chat_asks.chat),
    "messages with reasoning details": _asked("openrouter", _details, chat_asks.chat),
    "native messages": _signed,
    "calls that another process knows": _shared,
    "thoughts that another process knows": _thought_elsewhere,
    "arguments, items": _checked(
        {"properties": {"a": {"items": {"type": "integer"}}}}, lambda n: {"a": [1] * n}
    ),
    "arguments, names": _checked(
        {"additionalProperties": False, "properties": {"a": {}}}, lambda n: {f"p{i}": i for i in range(n)}
    ),
    "arguments, different": _checked(
        {"properties": {"a": {"uniqueItems": True}}}, lambda n: {"a": list(range(n))}
    ),
}

DECLARED: Mapping[str, Make] = {
    **{
        f"{name} to {profile}": _asked(profile, _tools(schema))
        for profile in ("openai", "anthropic", "google", "mistral")
        for name, schema in SCHEMAS.items()
    },
}
"""Schemas of tools. Their limits leave no room for what only a long text would show."""
