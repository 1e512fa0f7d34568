"""chat-backends 3.3: each refusal in the table teaches one change, and none teaches what is known already."""

from dataclasses import fields, replace
from functools import partial
from typing import Any

from proxy.core.backends.efforts import THINKING_SWITCH
from proxy.core.backends.profiles import PROFILES
from proxy.core.dialects.chat.lessons import LESSONS, THINKING_BUDGET
from proxy.core.dialects.reading import lessons
from proxy.core.profile import DEFAULT, BackendProfile
from tests.support.tables import table

learn = partial(lessons.learn, LESSONS)

NO_REPLAY = {"replay": "none", "replay_by_evidence": False}
GROQ_IN_MESSAGE = (
    "'messages.2' : for 'role:assistant' the following must be satisfied"
    "[('messages.2' : property 'reasoning_content' is unsupported)]"
)
MISTRAL = (
    '{"object":"Error","detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra"},'
    '{"type":"extra_forbidden","loc":["body","logprobs"],"msg":"Extra"}]}'
)


def changed(profile: BackendProfile, other: BackendProfile) -> dict[str, Any]:
    return {
        each.name: getattr(other, each.name)
        for each in fields(BackendProfile)
        if getattr(profile, each.name) != getattr(other, each.name)
    }


TAUGHT: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    (
        "length_field",
        {},
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'.",
        {"length_field": "max_completion_tokens"},
    ),
    (
        "length_field",
        {"length_field": "max_completion_tokens"},
        "`max_completion_tokens` is not supported",
        {"length_field": "max_tokens"},
    ),
    (
        "unknown_field",
        {"length_field": "max_completion_tokens"},
        "Unrecognized request argument supplied: max_completion_tokens",
        {"length_field": "max_tokens"},
    ),
    (
        "replay",
        {},
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        {"replay": "reasoning_content", "replay_blank": " "},
    ),
    (
        "replay",
        {"replay": "reasoning"},
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 3",
        {"replay_blank": " "},
    ),
    (
        "replay",
        {"replay": "reasoning_content", "replay_blank": " "},
        "must be passed back to the API",
        {"replay_scope": "all"},
    ),
    (
        "late_system",
        {"late_system": "keep"},
        "System message must be at the beginning.",
        {"late_system": "user"},
    ),
    (
        "late_system",
        {},
        "invalid params, chat content has invalid message role: system (2013)",
        {"late_system": "merge"},
    ),
    (
        "late_system",
        {"late_system": "merge", "join_users": False},
        "invalid params, invalid chat setting (2013)",
        {"join_users": True},
    ),
    (
        "alternate",
        {"join_users": False},
        "Conversation roles must alternate user/assistant/...",
        {"join_users": True},
    ),
    (
        "alternate",
        {"join_users": False},
        "After the (optional) system message(s), user and assistant roles should be alternating.",
        {"join_users": True},
    ),
    ("after_tool", {}, "Unexpected role 'user' after role 'tool'", {"after_tool": "Done."}),
    (
        "call_id",
        {},
        "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
        {"call_id": "alnum9"},
    ),
    (
        "call_id",
        {"call_id": "any"},
        "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40",
        {"call_id": "len40"},
    ),
    (
        "force_tool",
        {"force_tool": "object"},
        "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
        {"force_tool": "required"},
    ),
    (
        "force_tool",
        {"force_tool": "object"},
        "Thinking mode does not support this tool_choice",
        {"force_tool": "auto"},
    ),
    ("force_tool", {"force_tool": "any"}, "Invalid tool_choice: any", {"force_tool": "auto"}),
    ("parallel", {}, "This model only supports single tool-calls at once!", {"parallel": "false"}),
    ("parallel", {}, "parallel_tool_calls is not supported by this model.", {"parallel": "omit"}),
    ("strict", {"strict_tools": True}, "tools[0]: strict is not supported", {"strict_tools": False}),
    ("strict", {"strict_tools": True}, "Unsupported field 'strict' of a function", {"strict_tools": False}),
    ("max_tools", {"max_tools": 500}, "'tools' : maximum number of items is 128", {"max_tools": 128}),
    (
        "max_tools",
        {},
        "Invalid 'tools': array too long. Expected an array with maximum length 64, but got 100 instead.",
        {"max_tools": 64},
    ),
    (
        "schema",
        {},
        "tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'root'>",
        {"schema": {"plain", "moonshot"}},
    ),
    (
        "schema",
        {},
        "Failed to initialize samplers: failed to parse grammar",
        {"schema": {"plain", "bounded", "inline"}},
    ),
    ("schema", {}, "JSON schema error at #/properties/x", {"schema": {"plain", "bounded", "inline"}}),
    (
        "formats",
        {},
        "'response_format.type' must be 'json_schema' or 'text'",
        {"formats": {"json_schema"}},
    ),
    ("formats", {}, "response_format json_object is not supported", {"formats": {"json_schema"}}),
    *(
        ("format_with_tools", {}, words, {"format_with_tools": False})
        for words in (
            "json mode cannot be combined with tool/function calling",
            "`response_format` is not supported with `tools`.",
            "You cannot specify response format and function call at the same time",
            "Grammar and tools are mutually exclusive",
            "Function calling with a response mime type: 'application/json' is unsupported",
            "tools and response_format can not be used together",
            "Structured outputs are not available when tools are given",
        )
    ),
    ("formats", {}, "This response_format type is unavailable now", {"formats": {"json_object"}}),
    ("unknown_field", {}, "Unknown parameter: 'response_format'.", {"formats": set()}),
    (
        "unknown_field",
        {},
        "litellm.UnsupportedParamsError: acme does not support parameters: ['response_format', 'tools'], for model=m. "
        "To drop these, set `litellm.drop_params=True`",
        {"formats": set()},
    ),
    ("formats", {}, "This model does not support response_format.", {"formats": set()}),
    ("formats", {}, "response_format is not supported by this model", {"formats": set()}),
    (
        "formats",
        {},
        "[{'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\", "
        "'input': 'json_schema'}]",
        {"formats": {"json_object"}},
    ),
    (
        "formats",
        {},
        '{"detail":[{"type":"literal_error","loc":["body","response_format","type"],'
        '"msg":"Input should be \'text\', \'grammar\' or \'json_schema\'","input":"json_object"}]}',
        {"formats": {"json_schema"}},
    ),
    (
        "formats",
        {},
        "1 validation error for Request\nresponse_format.type\n  Input should be 'text' "
        "[type=literal_error, input_value='json_object', input_type=str]",
        {"formats": set()},
    ),
    (
        "room",
        {"length_default": 4096},
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 1000 `inputs` tokens and 4096 `max_new_tokens`",
        {"length_default": 3096},
    ),
    (
        "room",
        {"length_default": 64000},
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of "
        "64123 tokens: 123 tokens from the input messages and 64000 tokens for the completion.",
        {"length_default": 3973},
    ),
    (
        "room",
        {"length_default": 64000},
        "This model's maximum context length is 4096 tokens. However, you requested 64123 tokens (123 in the "
        "messages, 64000 in the completion).",
        {"length_default": 3973},
    ),
    (
        "room",
        {"length_default": 64000},
        "'max_tokens' is too large: 64000. This model's maximum context length is 4096 tokens and your request has "
        "123 input tokens (64000 > 4096 - 123).",
        {"length_default": 3973},
    ),
    (
        "room",
        {"length_default": 64000},
        "input length and `max_tokens` exceed context limit: 10000 + 64000 > 20000, decrease input length",
        {"length_default": 10000},
    ),
    (
        "thinking",
        {},
        "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions.",
        {"thinks_beside_tools": False},
    ),
    (
        "wire",
        {},
        "This model is only supported in v1/responses and not in v1/chat/completions.",
        {"wire": "responses"},
    ),
    (
        "effort",
        {"effort_field": "thinking", "effort_map": {}},
        "cannot specify both 'thinking' and 'reasoning_effort'",
        {"effort_map": THINKING_SWITCH},
    ),
    (
        "effort",
        {"effort_field": "reasoning_effort", "extra": {"thinking": {"type": "enabled"}}},
        "cannot specify both 'thinking' and 'reasoning_effort'",
        {"extra": {"thinking": None}},
    ),
    (
        "effort",
        {"effort_field": "enable_thinking"},
        "thinking_budget parameter must be a positive integer",
        {"extra": {"thinking_budget": THINKING_BUDGET}},
    ),
    (
        "effort",
        {"effort_field": "reasoning_effort"},
        '"qwen3" does not support thinking',
        {"effort_field": "none"},
    ),
    (
        "level",
        {"effort_field": "reasoning_effort"},
        "reasoning_effort: Input should be 'low', 'medium' or 'high'",
        {"effort_map": {"none": "low", "minimal": "low", "xhigh": "high", "max": "high"}},
    ),
    (
        "value",
        {"effort_field": "reasoning_effort"},
        "invalid reasoning value: 'extreme'",
        {"effort_field": "none"},
    ),
    (
        "orphan_tools",
        {},
        "Bedrock doesn't support tool calling without `tools=` param specified",
        {"orphan_tools": "declare"},
    ),
    (
        "orphan_tools",
        {"orphan_tools": "declare"},
        "Anthropic doesn't support tool calling without `tools=` param specified",
        {"orphan_tools": "flatten"},
    ),
    ("usage", {}, "stream_options is not supported by this model", {"usage": "never"}),
    ("usage", {}, "Unrecognized request argument supplied: stream_options", {"usage": "never"}),
    ("images", {}, "image input is not supported - hint: provide the mmproj", {"images": "none"}),
    ("images", {}, "image URLs are not currently supported, please use base64", {"images": "data"}),
    (
        "logprobs",
        {},
        "logprobs is not supported with tools + stream",
        {"tuning": DEFAULT.tuning - {"logprobs", "top_logprobs"}},
    ),
    ("unknown_field", {}, "property 'seed' is unsupported", {"tuning": DEFAULT.tuning - {"seed"}}),
    ("unknown_field", {"replay": "reasoning_content"}, GROQ_IN_MESSAGE, NO_REPLAY),
    (
        "unknown_field",
        {"replay": "reasoning"},
        "Extra inputs are not permitted, field: 'messages[2].reasoning'",
        NO_REPLAY,
    ),
    ("unknown_field", {}, MISTRAL, {"tuning": DEFAULT.tuning - {"seed", "logprobs"}}),
    ("unknown_field", {}, "Validation: Unsupported parameter(s): `top_k`", {"extra": {"top_k": None}}),
    (
        "unknown_field",
        {},
        "Unknown parameter: 'prompt_cache_key'.",
        {"extra": {"prompt_cache_key": None}},
    ),
    (
        "value",
        {},
        "Unsupported value: 'temperature' does not support 0.2 with this model.",
        {"tuning": DEFAULT.tuning - {"temperature"}},
    ),
    (
        "unknown_field",
        {"effort_field": "reasoning_effort"},
        "Model grok-4 does not support parameter reasoningEffort.",
        {"effort_field": "none"},
    ),
    (
        "unknown_field",
        {"effort_field": "thinking"},
        "Unknown parameter: 'thinking'",
        {"effort_field": "none"},
    ),
    (
        "unknown_field",
        {"parallel": "obey"},
        "Unknown parameter: 'parallel_tool_calls'",
        {"parallel": "omit"},
    ),
    ("unknown_field", {}, "Unknown parameter: 'tool_choice'", {"force_tool": "auto"}),
]


@table(("row", "before", "message", "change"), TAUGHT)
def test_a_refusal_teaches(row: str, before: dict[str, Any], message: str, change: dict[str, Any]) -> None:
    profile = replace(DEFAULT, **before)
    lesson = learn(profile, message)
    assert lesson is not None
    assert lesson.row == row
    assert changed(profile, lesson.profile) == change


@table(
    "message",
    [
        "Unsupported value: 'reasoning_effort' does not support 'banana' with this model.",
        "Unsupported value: 'temperature' does not support 0.2 with this model.",
        "JSON schema error at #/properties/x",
        "logprobs is not supported with tools + stream",
    ],
)
def test_what_is_wrong_with_this_request_alone_is_not_kept(message: str) -> None:
    """attack-07: a refused value says nothing of the field, nor a schema of others."""
    lesson = learn(replace(DEFAULT, effort_field="reasoning_effort"), message)
    assert lesson is not None
    assert not lesson.lasting


def test_everything_else_is_kept() -> None:
    names = [row for row, _, message, _ in TAUGHT if "failed to parse" not in message]
    once = {row.name for row in LESSONS if not row.lasting}
    assert once == {"schema", "logprobs", "value", "room"}
    assert once < {*names}


@table(
    ("message", "change"),
    [
        ('{"type":"extra_forbidden","loc":["body","tools",0,"function","strict"]}', {"strict_tools": False}),
        ('{"type":"extra_forbidden","loc":["body","tools",0,"function","parameters","seed"]}', None),
        ("Unknown parameter: 'tools[0].function.temperature'.", None),
        ("Unknown parameter: 'stream_options.include_usage'.", {"usage": "never"}),
        ("Extra inputs are not permitted, field: 'messages[2].seed'", NO_REPLAY),
    ],
)
def test_a_name_within_a_field_is_no_field(message: str, change: dict[str, Any] | None) -> None:
    """attack-07: names of properties are the client's."""
    profile = replace(DEFAULT, strict_tools=True, replay="reasoning")
    lesson = learn(profile, message)
    assert (lesson and changed(profile, lesson.profile)) == change


def test_a_schema_that_is_refused_does_not_cost_the_format() -> None:
    """attack-07: it is the client's 400."""
    words = (
        "Invalid schema for response_format 'x': In context=('properties', 'a'), 'allOf' is not permitted."
    )
    assert learn(DEFAULT, words) is None


def test_a_limit_of_nothing_leaves_one_tool() -> None:
    lesson = learn(DEFAULT, "'tools' : maximum number of items is 0")
    assert lesson is not None
    assert lesson.profile.max_tools == 1


def test_words_that_stand_twice_are_one_step_only() -> None:
    """OpenRouter quotes the vendor's own refusal within its own."""
    lesson = learn(replace(DEFAULT, force_tool="object"), "Invalid tool_choice. raw: Invalid tool_choice.")
    assert lesson is not None
    assert lesson.profile.force_tool == "required"


def test_every_row_of_the_table_is_taught_above() -> None:
    assert all(any(row.pattern.search(message) for _, _, message, _ in TAUGHT) for row in LESSONS)


@table(
    "message",
    [
        "",
        "Internal server error",
        "This model's maximum context length is 4096 tokens.",
        "Unknown parameter: 'messages'.",
        "Unsupported parameter: 'model'",
        "messages: at least one message is required",
        "Invalid API key",
    ],
)
def test_other_refusals_teach_nothing(message: str) -> None:
    assert learn(DEFAULT, message) is None


def test_what_is_known_already_is_no_lesson() -> None:
    assert learn(PROFILES["mistral"], "with a length of 9") is None
    assert learn(replace(DEFAULT, force_tool="auto"), "Invalid tool_choice") is None
    assert learn(DEFAULT, "'tools' : maximum number of items is 512") is None


def test_no_row_is_taken_twice_for_one_request() -> None:
    first = learn(replace(DEFAULT, force_tool="object"), "Invalid tool_choice")
    assert first is not None
    assert learn(first.profile, "Invalid tool_choice", {first.row}) is None


def test_how_a_backend_is_asked_may_be_set_by_hand() -> None:
    """Copilot's word, for a model that it offers by Responses alone."""
    assert learn(replace(DEFAULT, wire="chat"), '{"code":"unsupported_api_for_model"}') is None
