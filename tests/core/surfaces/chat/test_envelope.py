"""C04, C05: the fields around `messages`: used, dropped or refused knowingly; never refused for being unknown."""

from proxy.core.ledger import Ledger
from proxy.core.model import FormatKind, OutputFormat, ReasoningWish, Sampling
from proxy.core.surfaces.chat.envelope import ChatEnvelope
from proxy.core.surfaces.reading.fields import MODEL
from tests.support.chat_asks import HI, OBJECT, assistant, chat, refused
from tests.support.tables import table


def test_every_field_arrives():
    """C01: nothing that a backend could use is lost on the way."""
    asked = chat(
        stream=True,
        stream_options={"include_usage": True, "include_obfuscation": False},
        max_tokens=16,
        temperature=0.5,
        top_p=1,
        presence_penalty=-1,
        frequency_penalty=1.5,
        seed=7,
        stop="\n",
        logprobs=True,
        top_logprobs=2,
        n=1,
        reasoning_effort="ultra",
        verbosity="low",
        modalities=["text"],
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "n", "schema": OBJECT, "strict": True},
        },
        request_options={"validate_tool_arguments": True},
    )
    request = asked.request
    assert asked.include_usage is True
    assert (request.model, request.stream, request.verbosity) == ("m", True, "low")
    assert request.sampling == Sampling(0.5, 1, -1, 1.5, 7, ["\n"], 16, True, 2)
    assert request.reasoning == ReasoningWish(effort="ultra")
    assert request.format == OutputFormat(FormatKind.JSON_SCHEMA, "n", OBJECT, strict=True)
    assert request.validate_arguments is True


def test_null_is_absent():
    """Clients spell out what they do not want."""
    ledger = Ledger()
    names = ChatEnvelope.model_fields.keys() - {"model", "messages"}
    assert chat(ledger, **dict.fromkeys(names)) == chat()
    assert not ledger.dropped


@table(
    ("fields", "message"),
    [
        ({"model": None}, f"model is required: {MODEL}."),
        ({"model": ""}, f"model is required: {MODEL}."),
        ({"model": 5}, "model must be a string, got number."),
        ({"model": "m" * 1025}, "model may have at most 1024 characters."),
        ({"messages": None}, "messages is required: an array of messages."),
        (
            {"messages": None, "input": "Hi"},
            "messages is required: an array of messages. `input` is for the Responses API: send it to /v1/responses.",
        ),
        ({"messages": []}, "messages must hold at least one message."),
        ({"messages": {}}, "messages must be an array, got object."),
        (
            {"messages": [assistant(content="")]},
            "messages hold nothing that can be sent to a model: give one of them some content.",
        ),
        ({"temperature": -0.1}, "temperature must be between 0 and 2, got -0.1."),
        ({"temperature": 2.1}, "temperature must be between 0 and 2, got 2.1."),
        ({"top_p": -0.1}, "top_p must be between 0 and 1, got -0.1."),
        ({"top_p": 1.1}, "top_p must be between 0 and 1, got 1.1."),
        ({"max_tokens": 0}, "max_tokens must be at least 1, got 0."),
        ({"max_tokens": "9"}, "max_tokens must be an integer, got string."),
        ({"max_completion_tokens": 0}, "max_completion_tokens must be at least 1, got 0."),
        ({"top_logprobs": 21}, "top_logprobs must be between 0 and 20, got 21."),
        ({"n": 0}, "n must be at least 1, got 0."),
        ({"stop": 5}, "stop must be a string or an array of strings, got number."),
        ({"stop": ["a", 5]}, "stop[1] must be a string, got number."),
        ({"stop": ["a"] * 5}, "stop holds more than 4 strings: send fewer."),
        ({"stream": "yes"}, "stream must be a boolean, got string."),
        ({"parallel_tool_calls": "no"}, "parallel_tool_calls must be a boolean, got string."),
        ({"tools": {}}, "tools must be an array, got object."),
        ({"reasoning_effort": 5}, "reasoning_effort must be a string, got number."),
        ({"response_format": "json"}, "response_format must be an object, got string."),
        (
            {"response_format": {}},
            "response_format.type is required: see /openapi.json for what belongs there.",
        ),
        (
            {"response_format": {"type": "xml"}},
            "response_format.type must be 'text', 'json_object' or 'json_schema', got 'xml'.",
        ),
        (
            {"response_format": {"type": "json_schema"}},
            "response_format.json_schema.name is required: a name for the schema.",
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a b"}}},
            "response_format.json_schema.name must match ^[a-zA-Z0-9_-]{1,64}$.",
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "n"}}},
            "response_format.json_schema.schema is required: a JSON Schema.",
        ),
        (
            {"stream": True, "stream_options": {"include_usage": 1}},
            "stream_options.include_usage must be a boolean, got number.",
        ),
        (
            {"request_options": {"validate_tool_arguments": "yes"}},
            "request_options.validate_tool_arguments must be a boolean, got string.",
        ),
    ],
)
def test_wrong_types_and_bounds_are_said_in_plain_words(fields, message):
    """C04: each names its field."""
    fault = refused(**fields)
    assert fault.message == message
    assert fault.param == message.split()[0]


@table("fields", [{}, {"stream": False}, {"stream": None}])
@table("options", [{}, {"include_usage": True}])
def test_stream_options_need_a_stream(fields, options):
    """C04."""
    fault = refused(stream_options=options, **fields)
    assert fault.param == "stream_options"
    assert "stream to true" in fault.message


@table(
    ("fields", "param"),
    [
        ({"n": 2}, "n"),
        ({"modalities": ["text", "audio"], "audio": {"voice": "x"}}, "modalities"),
        ({"modalities": ["image"]}, "modalities"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(fields, param):
    """The answer would be another one than was asked for."""
    fault = refused(**fields)
    assert (fault.param, fault.code) == (param, "unsupported_value")


@table(
    ("fields", "user", "tier"),
    [
        ({"user": "u", "service_tier": "flex"}, "u", "flex"),
        ({"user": "u", "safety_identifier": "s"}, "s", None),
        ({"user": "", "safety_identifier": 5}, None, None),
    ],
)
def test_for_whom_it_is_asked_and_how_fast(fields, user, tier):
    request = chat(**fields).request
    assert (request.user, request.service_tier) == (user, tier)


@table(
    ("name", "value", "counted"),
    [
        ("logit_bias", {"50256": -100}, True),
        ("logit_bias", {}, False),
        ("prediction", {"type": "content", "content": "x"}, True),
        ("store", True, True),
        ("store", False, False),
        ("audio", {"voice": "x"}, True),
        ("metadata", {"k": "v"}, False),
        ("user", 5, False),
        ("a_new_field", {"x": [1]}, False),
        ("functions", [], False),
    ],
)
def test_what_changes_nothing_here_is_accepted(name, value, counted):
    """C05: and not passed on; counted where it was a wish."""
    ledger = Ledger()
    assert chat(ledger, **{name: value}) == chat()
    assert ledger.dropped == ({name: 1} if counted else {})


@table(
    ("fields", "expected"),
    [
        ({"max_tokens": 5}, Sampling(max_tokens=5)),
        ({"max_completion_tokens": 6}, Sampling(max_tokens=6)),
        ({"max_tokens": 5, "max_completion_tokens": 6}, Sampling(max_tokens=6)),
        ({"stop": ["a", "b", "", "d"]}, Sampling(stop=["a", "b", "d"])),
        ({"stop": ""}, Sampling()),
        ({"stop": []}, Sampling()),
        ({"logprobs": True}, Sampling(logprobs=True)),
        ({"top_logprobs": 3}, Sampling(logprobs=True, top_logprobs=3)),
        ({"temperature": 0, "top_p": 0}, Sampling(temperature=0, top_p=0)),
        ({"temperature": 2, "top_p": 1}, Sampling(temperature=2, top_p=1)),
    ],
)
def test_tuning(fields, expected):
    """C04: bounds are inclusive; of two names of one wish the newer one counts."""
    assert chat(**fields).request.sampling == expected


@table(
    ("options", "wanted"),
    [(None, False), ({}, False), ({"include_usage": False}, False), ({"include_usage": True}, True)],
)
def test_usage_comes_to_those_who_ask(options, wanted):
    """C06."""
    assert chat(stream=True, stream_options=options).include_usage is wanted
    assert chat(messages=[HI]).include_usage is False


@table(
    ("fields", "effort"),
    [
        ({"reasoning": {"effort": "high"}}, "high"),
        ({"reasoning": {"effort": "high"}, "reasoning_effort": "low"}, "low"),
        ({"reasoning": {"enabled": False}}, "none"),
        ({"reasoning": {"enabled": True, "max_tokens": 2000}}, None),
        ({"reasoning": {"effort": 3}}, None),
        ({"reasoning": "high"}, None),
    ],
)
def test_how_much_to_think_in_openrouters_form(fields, effort):
    assert chat(**fields).request.reasoning == ReasoningWish(effort=effort)


def test_what_is_said_of_the_cache():
    """A key that is lost costs tokens at a backend that knows it."""
    labels = {"prompt_cache_key": "k", "prompt_cache_retention": "24h"}
    assert chat(**labels).request.cache == labels
    assert chat(prompt_cache_key=None, prompt_cache_retention=7).request.cache == {}
