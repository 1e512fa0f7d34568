"""The fields around `input`: used, echoed, knowingly dropped, knowingly refused; never refused for being unknown."""

from proxy.core.ledger import Ledger
from tests.support.responses_asks import ask, refused
from tests.support.tables import table

NULLABLE = [
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "include",
    "max_output_tokens",
    "max_tool_calls",
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
    "text",
    "reasoning",
    "truncation",
    "generate",
    "stream",
    "stream_options",
    "background",
    "store",
    "metadata",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "previous_response_id",
    "conversation",
    "prompt",
    "context_management",
    "moderation",
    "request_options",
]


def test_null_is_absent():
    """Clients spell out what they do not want."""
    ledger = Ledger()
    assert ask(ledger, **dict.fromkeys(NULLABLE)) == ask()
    assert not ledger.dropped


@table(
    ("fields", "message"),
    [
        ({"model": 5}, "model must be a string, got number."),
        ({"instructions": ["x"]}, "instructions must be a string, got array."),
        ({"temperature": "hot"}, "temperature must be a number, got string."),
        ({"temperature": True}, "temperature must be a number, got boolean."),
        ({"temperature": 10**400}, "temperature must be a number, got number."),
        ({"temperature": -0.1}, "temperature must be between 0 and 2, got -0.1."),
        ({"temperature": 2.1}, "temperature must be between 0 and 2, got 2.1."),
        ({"temperature": float("inf")}, "temperature must be a finite number."),
        ({"top_p": 1.5}, "top_p must be between 0 and 1, got 1.5."),
        ({"top_p": -1}, "top_p must be between 0 and 1, got -1."),
        ({"presence_penalty": "x"}, "presence_penalty must be a number, got string."),
        ({"frequency_penalty": []}, "frequency_penalty must be a number, got array."),
        ({"top_logprobs": 21}, "top_logprobs must be between 0 and 20, got 21."),
        ({"top_logprobs": -1}, "top_logprobs must be between 0 and 20, got -1."),
        ({"top_logprobs": 1.5}, "top_logprobs must be an integer, got decimal number."),
        ({"max_output_tokens": 0}, "max_output_tokens must be at least 1, got 0."),
        ({"max_output_tokens": "16"}, "max_output_tokens must be an integer, got string."),
        ({"max_tool_calls": 0}, "max_tool_calls must be at least 1, got 0."),
        ({"parallel_tool_calls": "yes"}, "parallel_tool_calls must be a boolean, got string."),
        ({"stream": 1}, "stream must be a boolean, got number."),
        ({"store": "no"}, "store must be a boolean, got string."),
        ({"background": "no"}, "background must be a boolean, got string."),
        ({"include": "x"}, "include must be an array, got string."),
        ({"include": ["x", 5]}, "include[1] must be a string, got number."),
        ({"text": "x"}, "text must be an object, got string."),
        ({"text": {"verbosity": "loud"}}, "text.verbosity must be 'low', 'medium' or 'high', got 'loud'."),
        ({"text": {"format": "json"}}, "text.format must be an object, got string."),
        ({"text": {"format": {}}}, "text.format.type is required: see /openapi.json for what belongs there."),
        (
            {"text": {"format": {"type": "xml"}}},
            "text.format.type must be 'text', 'json_object' or 'json_schema', got 'xml'.",
        ),
        (
            {"text": {"format": {"type": "json_schema", "name": "a b", "schema": {}}}},
            "text.format.name must match ^[a-zA-Z0-9_-]{1,64}$.",
        ),
        (
            {"text": {"format": {"type": "json_schema", "name": "x" * 65, "schema": {}}}},
            "text.format.name must match ^[a-zA-Z0-9_-]{1,64}$.",
        ),
        (
            {"text": {"format": {"type": "json_schema", "name": "n", "schema": []}}},
            "text.format.schema must be an object, got array.",
        ),
        (
            {"text": {"format": {"type": "json_schema", "name": "n", "schema": {}, "strict": "x"}}},
            "text.format.strict must be a boolean, got string.",
        ),
        (
            {"text": {"format": {"type": "json_schema", "schema": {}}}},
            "text.format.name is required: a name for the schema.",
        ),
        (
            {"text": {"format": {"type": "json_schema", "name": "n"}}},
            "text.format.schema is required: a JSON Schema.",
        ),
        ({"reasoning": "high"}, "reasoning must be an object, got string."),
        ({"reasoning": {"effort": 5}}, "reasoning.effort must be a string, got number."),
        (
            {"reasoning": {"summary": "long"}},
            "reasoning.summary must be 'auto', 'concise' or 'detailed', got 'long'.",
        ),
        ({"truncation": "maybe"}, "truncation must be 'auto' or 'disabled', got 'maybe'."),
        ({"stream_options": []}, "stream_options must be an object, got array."),
        (
            {"stream_options": {"include_obfuscation": 1}},
            "stream_options.include_obfuscation must be a boolean, got number.",
        ),
        ({"metadata": []}, "metadata must be an object, got array."),
        ({"metadata": {"k": 5}}, "metadata.k must be a string, got number."),
        ({"metadata": {"k": "x" * 513}}, "metadata.k may have at most 512 characters."),
        ({"metadata": {str(n): "" for n in range(17)}}, "metadata may have at most 16 entries."),
        ({"service_tier": 5}, "service_tier must be a string, got number."),
        ({"safety_identifier": "x" * 129}, "safety_identifier may have at most 128 characters."),
        ({"prompt_cache_key": "x" * 65}, "prompt_cache_key may have at most 64 characters."),
        ({"request_options": "x"}, "request_options must be an object, got string."),
        (
            {"request_options": {"validate_tool_arguments": "yes"}},
            "request_options.validate_tool_arguments must be a boolean, got string.",
        ),
        ({"previous_response_id": 5}, "previous_response_id must be a string, got number."),
    ],
)
def test_wrong_types_and_bounds_are_said_in_plain_words(fields, message):
    """F72: the words of whoever wrote the JSON, not of the library that read it."""
    fault = refused(**fields)
    assert fault.message == message
    assert fault.param == message.split()[0]
    assert (fault.status, fault.type) == (400, "invalid_request_error")


def test_a_metadata_key_has_a_bound_too():
    """The message repeats only the beginning of it."""
    fault = refused(metadata={"k" * 5000: "v"})
    assert fault.param is not None
    assert fault.param.startswith("metadata.kkk")
    assert len(fault.message) < 200


@table(
    "fields",
    [
        {"temperature": 0, "top_p": 0},
        {"temperature": 2, "top_p": 1},
        {"max_output_tokens": 1},
        {"top_logprobs": 20},
        {"presence_penalty": -2, "frequency_penalty": 2.5},
        {"reasoning": {"effort": "ultra", "summary": "auto", "context": "all_turns"}},
        {"text": {"verbosity": "low", "format": {"type": "text"}}},
        {"metadata": {"k": "x" * 512}},
        {"include": ["reasoning.encrypted_content", "something.new"]},
        {"stream_options": {"include_obfuscation": False, "more": 1}},
        {"user": 5, "client_metadata": {"a": "b"}, "access_programs": [], "image": {}, "response_format": 5},
        {"model_config": 1, "__class__": 2, "": 3, "\ud800": 4},
        {"instructions": "half a \ud800 character"},
    ],
)
def test_what_must_pass(fields):
    """Bounds are inclusive, new words are welcome, unknown fields are nobody's error."""
    assert ask(**fields).model == "m"


@table(
    ("name", "value", "counted"),
    [
        ("truncation", "auto", True),
        ("truncation", "disabled", False),
        ("max_tool_calls", 3, True),
        ("store", True, False),
        ("store", False, False),
        ("context_management", [{"type": "compaction"}], True),
        ("moderation", {"model": "x"}, True),
        ("prompt_cache_key", "k", False),
        ("safety_identifier", "k", False),
        ("metadata", {"k": "v"}, False),
    ],
)
def test_what_changes_nothing_here_is_counted_when_it_was_meant_to(name, value, counted):
    """A dropped wish shows in the request's line; a label that no model reads is not a wish."""
    ledger = Ledger()
    ask(ledger, **{name: value})
    assert ledger.dropped == ({name: 1} if counted else {})


@table(
    ("fields", "user", "tier"),
    [
        ({"user": "u", "service_tier": "flex"}, "u", "flex"),
        ({"user": "u", "safety_identifier": "s"}, "s", None),
        ({"user": 5}, None, None),
    ],
)
def test_for_whom_it_is_asked_and_how_fast(fields, user, tier):
    request = ask(**fields)
    assert (request.user, request.service_tier) == (user, tier)


@table(
    ("name", "value", "instead"),
    [
        ("max_tokens", 5, "max_output_tokens"),
        ("messages", [], "input"),
        ("response_format", {"type": "json_object"}, "text.format"),
    ],
)
def test_what_is_said_in_the_words_of_chat_is_told_of(name, value, instead):
    """Whoever sends it meant it, and would wonder at the answer."""
    ledger = Ledger()
    ask(ledger, **{name: value})
    assert ledger.dropped == {name: 1}
    assert ledger.warnings == [f"{name} is a field of Chat Completions, and was not read: send {instead}."]
    ask(quiet := Ledger(), **{name: None})
    assert not quiet.dropped
    assert not quiet.warnings


def test_a_request_of_chat_is_sent_where_it_belongs():
    asked = {"input": None, "messages": [{"role": "user", "content": "Hi"}]}
    assert refused(**asked).message == (
        "input is required: a string or an array of items. `messages` are for Chat Completions: send them to"
        " /v1/chat/completions."
    )
    assert "Chat" not in refused(**asked | {"messages": None}).message
    assert "Chat" not in refused(**asked, previous_response_id="resp_1").message, "it need not say more"


def test_what_names_something_that_is_kept_is_looked_at_with_the_fields():
    """What cannot be the id of anything is not looked up."""
    assert refused(previous_response_id="msg_1").code == "invalid_value"
    assert refused(conversation={"id": 5}).param == "conversation.id"
    both = refused(previous_response_id="resp_1", conversation="conv_1")
    assert (both.code, both.param) == ("mutually_exclusive_parameters", None)


@table(
    ("name", "value"),
    [
        ("background", True),
        ("prompt", {"id": "pmpt_1"}),
    ],
)
def test_what_cannot_be_honoured_is_refused_with_a_way_out(name, value):
    """Without it the answer would be another one than was asked for."""
    fault = refused(**{name: value})
    assert (fault.status, fault.code, fault.param) == (400, "unsupported_parameter", name)
    assert fault.message.count(".") >= 2


def test_background_spelled_out_as_false_is_fine():
    """It is the default."""
    assert ask(background=False).model == "m"
