"""One row for each lesson that a refusal or a reply can teach: what is asked, what the backend says to that, and in
which fields its following requests differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.scripted import anthropic, chat, google, responses
from tests.scripted.say import Say, SayCall
from tests.support.sockets import DONE, END, HEAD, answer, delta, finish, reply, text

Json = dict[str, Any]

FULL = {"wire": "responses", "sealed_thoughts": True, "summaries": True, "media_results": True}
SETTINGS: Mapping[str, Json] = {
    "chat": {"profile": "default"},
    "responses": {"profile": "openai", "overrides": FULL},
    "anthropic": {"profile": "anthropic"},
    "google": {"profile": "google"},
}
MODELS = {"chat": "m", "responses": responses.MODEL, "anthropic": "claude-opus-5", "google": google.MODEL}
PROVIDERS = {
    "chat": chat.provider(),
    "responses": responses.provider(),
    "anthropic": anthropic.PROVIDER,
    "google": google.provider(),
}


@dataclass(frozen=True)
class Refused:
    """A refusal, or several of one request, after which it is asked in another way."""

    dialect: str
    lessons: str
    """One word for each refusal."""
    words: tuple[str, ...]
    ask: Json = field(default_factory=dict)
    differs: frozenset[str] = frozenset()
    """Fields of the body. None: the other of OpenAI's languages is spoken, in which nothing is the same."""
    kept: Literal["kept", "once", "half"] = "kept"
    """Is the following request asked so at once, or refused again, or has half of it been kept?"""
    on: Json = field(default_factory=dict)
    """Fields of the profile."""
    turn: Say | None = None
    """What the model has said before: the client sends it back."""
    model: str = ""
    status: int = 400
    native: bool = False
    """Is it asked for by the surface that has every option?"""

    def __str__(self) -> str:
        return f"{self.dialect} {self.lessons}: {self.words[-1][:40]}"


@dataclass(frozen=True)
class Replied:
    """A reply that shows something."""

    lesson: str
    said: bytes
    differs: frozenset[str]
    """Fields of the body."""
    fields: Json
    """Of the profile, as they are known then."""
    ask: Json = field(default_factory=dict)
    field: str = ""
    """The one in which thoughts go back. The client sends the answer back for that."""

    then: bytes = b""
    """The following reply."""

    @property
    def goes_on(self) -> bool:
        return bool(self.field)

    def __str__(self) -> str:
        return f"{self.lesson} {self.field}".strip()


def of(*names: str) -> frozenset[str]:
    return frozenset(names)


def user(*content: Any) -> Json:
    return {"role": "user", "content": list(content) if content else "Hi"}


def tool(name: str, **schema: Any) -> Json:
    return {"type": "function", "name": name, "parameters": {"type": "object", "properties": {}} | schema}


LONG = "call_" + "x" * 50
CALLED = [
    user(),
    {"type": "function_call", "call_id": LONG, "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": LONG, "output": "Nothing."},
]
LATE = [user(), {"role": "developer", "content": "Be brief."}, user()]
TOOLS = [tool("look"), tool("listen")]
CLOSED = {"additionalProperties": False, "required": []}
STRICT = [tool("look", **CLOSED) | {"strict": True}]
NESTED = [
    tool(
        "look",
        properties={"a": {"$ref": "#/$defs/a"}},
        **{"$defs": {"a": {"type": "string", "maxLength": 9}}},
    )
]
UNION = [tool("look", properties={"a": {"type": "string", "anyOf": [{"type": "string"}, {"type": "null"}]}})]
CUSTOM = [{"type": "custom", "name": "draw"}]
FORCED = {"type": "function", "name": "look"}
FORM = {
    "format": {
        "type": "json_schema",
        "name": "form",
        "schema": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], **CLOSED},
    }
}
HIGH = {"effort": "high"}
PICTURE = user({"type": "input_image", "image_url": "data:image/png;base64,AAAA"})
FAR_PICTURE = user({"type": "input_image", "image_url": "https://pictures.example/a.png"})
FILE = user({"type": "input_file", "filename": "a.txt", "file_data": "data:text/plain;base64,SGk="})
SHOWN = [*CALLED[:2], CALLED[2] | {"output": PICTURE["content"]}]
PROBABLE = {"include": ["message.output_text.logprobs"], "top_logprobs": 2}
THOUGHT = Say(thinking="Hm.", signature="c2lnbmVk", calls=[SayCall("toolu_1", "look", {})])

LIMITS = (
    "input length and `max_tokens` exceed context limit: 1000 + 4096 > 4096",
    "This model's maximum context length is 4096 tokens. However, you requested 5096 tokens (1000 in the messages).",
    "This model's maximum context length is 4096 tokens and your request has 1000 input tokens.",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 1000 `inputs` tokens",
)


def limits(dialect: str, name: str, model: str = "") -> list[Refused]:
    on = {"length_default": 4095}
    return [Refused(dialect, "room", (words,), {}, of(name), "half", on=on, model=model) for words in LIMITS]


BOUND = "messages.1.content.0: The block is bound to a different conversation."
UNKNOWN_WORDS = "Ungültige Anfrage."
NO_PAGE = "404 page not found"
CHAT_ONLY = "This model is only supported in v1/chat/completions and not in v1/responses."

CHAT = [
    Refused("chat", "length_field", ("'max_tokens' is not supported with this model.",), {"max_output_tokens": 100},
            of("max_tokens", "max_completion_tokens")),
    Refused("chat", "replay", ("reasoning_content is missing in assistant tool call message at index 1",),
            {"input": CALLED, "tools": TOOLS}, of("messages"), on={"replay": "reasoning_content"}),
    Refused("chat", "late_system", ("System message must be at the beginning.",), {"input": LATE}, of("messages"),
            on={"late_system": "keep"}),
    Refused("chat", "alternate", ("Conversation roles must alternate",), {"input": [user(), user()]},
            of("messages"), on={"join_users": False}),
    Refused("chat", "after_tool", ("Unexpected role 'user' after role 'tool'",),
            {"input": [*CALLED, user()], "tools": TOOLS}, of("messages")),
    Refused("chat", "call_id", ("must be a-z, A-Z, 0-9, with a length of 9.",), {"input": CALLED, "tools": TOOLS},
            of("messages")),
    Refused("chat", "call_id", ("string too long. Expected a string with maximum length 40",),
            {"input": CALLED, "tools": TOOLS}, of("messages"), on={"call_id": "any"}),
    Refused("chat", "force_tool", ("Invalid tool_choice type: 'object'.",), {"tools": TOOLS, "tool_choice": FORCED},
            of("tool_choice", "tools")),
    Refused("chat", "force_tool", ("Thinking mode does not support this tool_choice",),
            {"tools": TOOLS, "tool_choice": "required"}, of("tool_choice")),
    Refused("chat", "parallel", ("This model only supports single tool-calls at once!",), {"tools": TOOLS},
            of("parallel_tool_calls")),
    Refused("chat", "parallel", ("parallel_tool_calls is not supported by this model.",),
            {"tools": TOOLS, "parallel_tool_calls": False}, of("parallel_tool_calls")),
    Refused("chat", "strict", ("tools[0]: strict is not supported",), {"tools": STRICT}, of("tools"),
            on={"strict_tools": True}),
    Refused("chat", "max_tools", ("'tools' : maximum number of items is 1",), {"tools": TOOLS}, of("tools")),
    Refused("chat", "schema", ("parameters is not a valid moonshot flavored json schema",), {"tools": UNION},
            of("tools")),
    Refused("chat", "schema", ("failed to parse grammar",), {"tools": NESTED}, of("tools"), "once"),
    Refused("chat", "format_with_tools", ("json mode cannot be combined with tool calling",),
            {"tools": TOOLS, "text": FORM}, of("response_format", "messages")),
    Refused("chat", "formats", ("'response_format.type' must be 'json_object' or 'text'",), {"text": FORM},
            of("response_format", "messages")),
    Refused("chat", "formats", ("'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text'",),
            {"text": FORM}, of("response_format", "messages")),
    *limits("chat", "max_tokens"),
    Refused("chat", "thinking", ("Function tools with reasoning_effort are not supported for this model",),
            {"tools": TOOLS, "reasoning": HIGH}, of("reasoning_effort"), on={"effort_field": "reasoning_effort"}),
    Refused("chat", "wire", ("This model is only supported in v1/responses and not in v1/chat/completions.",)),
    Refused("chat", "effort", ("cannot specify both 'thinking' and 'reasoning_effort'",), {"reasoning": HIGH},
            of("reasoning_effort"), on={"effort_field": "thinking"}),
    Refused("chat", "effort", ("thinking_budget parameter must be a positive integer",), {"reasoning": HIGH},
            of("thinking_budget"), on={"effort_field": "enable_thinking"}),
    Refused("chat", "effort", ("this model does not support thinking",), {"reasoning": HIGH},
            of("reasoning_effort"), on={"effort_field": "reasoning_effort"}),
    Refused("chat", "level", ("reasoning_effort: Input should be 'low' or 'medium'",), {"reasoning": HIGH},
            of("reasoning_effort"), on={"effort_field": "reasoning_effort"}),
    Refused("chat", "value", ("think value \"high\" is not supported for this model",), {"reasoning": HIGH},
            of("reasoning_effort"), "once", on={"effort_field": "reasoning_effort"}),
    Refused("chat", "orphan_tools", ("Bedrock doesn't support tool calling without `tools=` param specified",),
            {"input": CALLED}, of("tools")),
    Refused("chat", "usage", ("stream_options is not supported by this model",), {}, of("stream_options")),
    Refused("chat", "images", ("image input is not supported",), {"input": [PICTURE]}, of("messages")),
    Refused("chat", "images", ("image URLs are not currently supported",), {"input": [FAR_PICTURE]}, of("messages")),
    Refused("chat", "logprobs", ("logprobs is not supported with tools + stream",), PROBABLE,
            of("logprobs", "top_logprobs"), "once"),
    Refused("chat", "unknown_field", ("property 'temperature' is unsupported",), {"temperature": 0.5},
            of("temperature")),
    Refused("chat", "unknown_field", ("Unknown parameter: 'max_tokens'.",), {"max_output_tokens": 100},
            of("max_tokens", "max_completion_tokens")),
    Refused("chat", "unknown_field", ("Unknown parameter: 'tool_choice'.",),
            {"tools": TOOLS, "tool_choice": "required"}, of("tool_choice")),
    Refused("chat", "unknown_field", ("Unknown parameter: 'response_format'.",), {"text": FORM},
            of("response_format", "messages")),
    Refused("chat", "unknown_field", ("acme does not support parameters: ['temperature', 'top_p'], for model=m.",),
            {"temperature": 0.5, "top_p": 0.5}, of("temperature", "top_p")),
    Refused("chat", "unknown_field", ("Extra inputs are not permitted, field: 'messages[1].reasoning_content'",),
            {}, of("messages"), turn=THOUGHT, on={"replay": "reasoning_content"}),
    Refused("chat", "unknown_field", ("does not support parameter reasoningEffort",), {"reasoning": HIGH},
            of("reasoning_effort"), on={"effort_field": "reasoning_effort"}),
    Refused("chat", "value", ("Unsupported value: 'temperature' does not support that.",), {"temperature": 0.5},
            of("temperature"), "once"),
    Refused("chat", "evidence", (UNKNOWN_WORDS,), {}, of("messages"), turn=THOUGHT),
    Refused("chat", "format_evidence", (UNKNOWN_WORDS,), {"tools": TOOLS, "text": FORM},
            of("response_format", "messages")),
    Refused("chat", "wire", (NO_PAGE,), status=404, on={"offers_responses": True}),
]  # fmt: skip

RESPONSES = [
    Refused("responses", "wire", (CHAT_ONLY,), {"tools": TOOLS, "reasoning": HIGH},
            on={"wire": "auto", "thinks_beside_tools": False}),
    Refused("responses", "sealed_thoughts", ("Encrypted content is not supported with this model.",), {},
            of("include")),
    Refused("responses", "foreign_thoughts", ("The encrypted content gAAA could not be verified.",), {},
            of("input"), "once", turn=THOUGHT),
    Refused("responses", "summary", ("must be verified to generate reasoning summaries.",),
            {"reasoning": HIGH | {"summary": "auto"}}, of("reasoning")),
    Refused("responses", "late_system", ("System message must be at the beginning.",), {"input": LATE}, of("input")),
    Refused("responses", "alternate", ("roles must alternate",), {"input": [user(), user()]}, of("input"),
            on={"join_users": False}),
    Refused("responses", "strict", ("strict is not supported",), {"tools": STRICT}, of("tools")),
    Refused("responses", "max_tools", ("'tools': maximum number of items is 1",), {"tools": TOOLS}, of("tools")),
    Refused("responses", "native_tools", ("Invalid value: 'custom'. Supported values are: 'function'.",),
            {"tools": CUSTOM}, of("tools"), on={"native_tools": ["custom"]}),
    Refused("responses", "native_tools", ("Custom tools are not supported with this model.",), {"tools": CUSTOM},
            of("tools"), on={"native_tools": ["custom"]}),
    Refused("responses", "format_with_tools", ("structured outputs cannot be combined with tools",),
            {"tools": TOOLS, "text": FORM}, of("text", "instructions")),
    *limits("responses", "max_output_tokens"),
    Refused("responses", "files", ("'input_file' is not supported",), {"input": [FILE]}, of("input")),
    Refused("responses", "media_results", ("Output of tool call should be 'Input text'",),
            {"input": SHOWN, "tools": TOOLS}, of("input")),
    Refused("responses", "images", ("image input is not supported",), {"input": [PICTURE]}, of("input")),
    Refused("responses", "images", ("image URLs are not currently supported",), {"input": [FAR_PICTURE]},
            of("input")),
    Refused("responses", "effort", ("this model does not support thinking",), {"reasoning": HIGH}, of("reasoning")),
    Refused("responses", "level", ("reasoning.effort: supported values are: 'low' and 'medium'",), {"reasoning": HIGH},
            of("reasoning")),
    Refused("responses", "value", ("invalid reasoning value: 'extreme'",), {"reasoning": HIGH},
            of("reasoning"), "once"),
    Refused("responses", "unknown_field", ("Unknown parameter: 'store'.",), {}, of("store")),
    Refused("responses", "unknown_field", ("Unknown parameter: 'text.format'.",), {"text": FORM},
            of("text", "instructions")),
    Refused("responses", "value", ("Unsupported value: 'reasoning.effort' is none for this model",),
            {"reasoning": HIGH}, of("reasoning"), "once"),
]  # fmt: skip

OLD = "claude-sonnet-4-5"
ANTHROPIC = [
    Refused("anthropic", "bound", (BOUND,), {}, of("thinking"), "once", turn=THOUGHT),
    Refused("anthropic", "bound unbound", (BOUND, BOUND), {}, of("thinking", "messages"), "once", turn=THOUGHT),
    Refused("anthropic", "bound binding", (BOUND, "thinking.adaptive.block_binding: Extra inputs are not permitted"),
            {}, of("messages"), "once", turn=THOUGHT),
    Refused("anthropic", "thoughts_lost", ("Expected `thinking` or `redacted_thinking`, but found `tool_use`.",),
            {"reasoning": HIGH}, of("thinking"), "once", model=OLD),
    Refused("anthropic", "thoughts_refused", ("messages.1.content.0: Invalid `signature` in `thinking` block",), {},
            of("messages"), "once", turn=THOUGHT),
    Refused("anthropic", "force_tool", ('tool_choice: "any" is not supported for this model',),
            {"tools": TOOLS, "tool_choice": "required"}, of("tool_choice", "messages")),
    Refused("anthropic", "force_thinking", ("Thinking may not be enabled when tool_choice forces tool use.",),
            {"tools": TOOLS, "tool_choice": "required"}, of("tool_choice", "messages"), "once"),
    Refused("anthropic", "sampling", ("`temperature` is deprecated for this model.",), {"temperature": 0.5},
            of("temperature"), model=OLD),
    Refused("anthropic", "sampled", ("temperature may only be set to 1 when thinking is enabled",),
            {"temperature": 0.5}, of("temperature"), "once", model=OLD),
    Refused("anthropic", "user", ("metadata.user_id: it appears to contain an email address",), {"user": "ann"},
            of("metadata"), "once"),
    Refused("anthropic", "max_tokens", ("max_tokens: 128000 > 64000, which is the maximum",), {}, of("max_tokens")),
    *limits("anthropic", "max_tokens"),
    Refused("anthropic", "effort", ("This model does not support the effort parameter.",), {"reasoning": HIGH},
            of("thinking", "output_config")),
    Refused("anthropic", "level", ("This model does not support max effort.",), {"reasoning": HIGH},
            of("thinking", "output_config"), "once"),
    Refused("anthropic", "late_system", ("messages.1.role: Input should be 'user', got \"system\"",),
            {"input": LATE[:2]}, of("messages")),
    Refused("anthropic", "orphan_tools", ("Requests which include `tool_use` blocks must define tools",),
            {"input": CALLED}, of("tools")),
    Refused("anthropic", "grammar", ("The compiled grammar is too large.",), {"text": FORM},
            of("output_config", "system"), "once"),
    Refused("anthropic", "unknown_field", ("cache_control: Extra inputs are not permitted",), {},
            of("cache_control")),
]  # fmt: skip

GOOGLE = [
    Refused("google", "signatures", ("Corrupted thought signature.",), {}, of("contents"), "once", turn=THOUGHT),
    Refused("google", "level", ("Thinking level MINIMAL is not supported for this model.",),
            {"reasoning": {"effort": "minimal"}}, of("generationConfig")),
    Refused("google", "level", ("Budget 0 is invalid. This model only works in thinking mode.",),
            {"reasoning": {"effort": "none"}}, of("generationConfig"), model="gemini-2.5-flash"),
    Refused("google", "level_refused", ("Thinking level BANANA is not supported for this model.",),
            {"reasoning": HIGH}, of("generationConfig"), "once"),
    Refused("google", "thinking", ("Thinking is not supported by this model.",), {"reasoning": HIGH},
            of("generationConfig")),
    Refused("google", "format", ("Function calling with a response mime type is unsupported",),
            {"tools": TOOLS, "text": FORM}, of("generationConfig", "systemInstruction")),
    Refused("google", "schema", ("Unknown name \"parametersJsonSchema\" at 'tools[0]': Cannot find field.",),
            {"tools": TOOLS}, of("tools")),
    Refused("google", "logprobs", ("Logprobs is not enabled for this model",), PROBABLE, of("generationConfig")),
    Refused("google", "penalty", ("Penalty is not enabled for this model",), {"presence_penalty": 1},
            of("generationConfig"), native=True),
    Refused("google", "tuning", ("topP cannot be used here",), {"top_p": 0.5}, of("generationConfig")),
    Refused("google", "images", ("Cannot fetch content from the provided URL.",), {"input": [FAR_PICTURE]},
            of("contents"), "once"),
]  # fmt: skip

REFUSED = (*CHAT, *RESPONSES, *ANTHROPIC, *GOOGLE)

UNCOUNTED = b"".join((HEAD, text("Hello."), finish(), DONE, END))
HELLO = reply(text("Hello."))
CALL = delta(tool_calls=[{"index": 0, "id": "c", "function": {"name": "look", "arguments": "{}"}}])
DETAILS = [{"type": "reasoning.text", "text": "Hm.", "index": 0}]
THINKING: Mapping[str, tuple[Any, Json]] = {
    "reasoning_content": ("Hm.", {"replay_scope": "all"}),
    "reasoning": ("Hm.", {"replay_scope": "all"}),
    "reasoning_details": (DETAILS, {}),
}
OPENED = reply(text("Hm."), text("</think>Hello."))
REPLIED = (
    Replied("thoughts", OPENED, of(), {"thoughts_until": "</think>"}, {"stream": True}, then=OPENED),
    Replied("usage", UNCOUNTED, of("stream", "stream_options"), {"usage_when_whole": True}),
    Replied("force_tool", HELLO, of("tool_choice", "tools"), {"force_tool": "required"},
            {"tools": TOOLS, "tool_choice": FORCED}, then=reply(CALL)),
    Replied("format_beside_tools", HELLO, of("response_format", "messages"), {"format_with_tools": False},
            {"tools": TOOLS, "text": FORM}),
    Replied("format_beside_tools", reply(CALL), of(), {"calls_beside_format": True}, {"tools": TOOLS, "text": FORM}),
    *(
        Replied("replay", reply(delta(**{name: thought}), CALL), of("messages"),
                {"replay": name} | scope, {"tools": TOOLS}, field=name)
        for name, (thought, scope) in THINKING.items()
    ),
)  # fmt: skip


def refusal(row: Refused, words: str) -> bytes:
    if row.status != 400:
        return answer(row.status, words.encode())
    return answer(row.status, PROVIDERS[row.dialect].error(row.status, words))
