"""What is said of bodies, held against those who read and write them."""

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from proxy.core import jsontext
from proxy.core.ledger import Ledger
from proxy.core.surfaces.chat import decode
from proxy.core.surfaces.memory.call_ids import CallMaps
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.native import decode as native_decode
from proxy.core.surfaces.openapi.schemas import ANSWER_SCHEMAS, request_schemas
from proxy.core.surfaces.responses import decode as responses_decode
from proxy.core.surfaces.responses.items import ITEMS
from tests.support.replies import SIGNER

SCHEMAS = request_schemas() | ANSWER_SCHEMAS


def fits(name: str, value: Any) -> bool:
    whole = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": SCHEMAS}}
    return Draft202012Validator(whole).is_valid(value)


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_is_json_schema(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])


WORDS = {*Draft202012Validator.VALIDATORS, "default", "description"}
"""That say something of a value, or nothing on purpose."""

NAMING = {"properties", "$defs"}
"""Under these stand names, and under each of them a schema."""


def words(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for word, said in schema.items():
            yield word
            if word not in ("default", "enum", "const"):
                yield from words([*said.values()] if word in NAMING else said)
    elif isinstance(schema, list):
        for one in schema:
            yield from words(one)


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_says_what_it_says_in_words_that_validators_know(name: str) -> None:
    """They pass over others, and generators of clients refuse them."""
    assert set(words(SCHEMAS[name])) <= WORDS


PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}

RESPONSES = [
    {"input": "Hi"},
    {"input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}], "temperature": 0.5},
    {
        "input": [
            {"type": "message", "role": "user", "content": "Hi"},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}]},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "1"},
        ],
        "tools": [
            {"type": "function", "name": "f", "parameters": PARAMETERS, "strict": None},
            {"type": "custom", "name": "g"},
        ],
        "tool_choice": {"type": "function", "name": "f"},
        "reasoning": {"effort": "low"},
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}},
        "stream": True,
    },
    {
        "input": [
            {
                "type": "message",
                "id": "msg_1",
                "status": "completed",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
            },
            {
                "role": "user",
                "content": [
                    {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
                    {
                        "type": "input_file",
                        "filename": "a.pdf",
                        "file_data": "data:application/pdf;base64,AAAA",
                    },
                ],
            },
            {"type": "configuration_update", "reasoning": {"effort": "low"}},
            {"type": "web_search_call", "id": "ws_1", "status": "completed"},
            {"type": "compaction_trigger"},
        ],
        "tools": [
            {"type": "web_search"},
            {"type": "local_shell"},
            {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]},
            {
                "type": "function",
                "name": "g",
                "parameters": {"type": "object", "properties": {"all": {"type": "array", "items": {}}}},
            },
        ],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "local_shell"}]},
        "prompt_cache_options": {"prewarm": True},
    },
]
CHAT = [
    {"messages": [{"role": "user", "content": "Hi"}]},
    {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {
                "role": "assistant",
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "1"},
        ],
        "tools": [
            {"type": "function", "function": {"name": "f", "description": "d", "parameters": PARAMETERS}}
        ],
        "tool_choice": "required",
        "stop": ["x"],
    },
    {
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": "Hi"}]},
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}],
            },
            {"role": "assistant", "content": ""},
        ],
    },
]


@pytest.mark.parametrize("body", RESPONSES)
def test_what_fits_is_read_as_a_request_for_a_response(body: dict[str, Any]) -> None:
    assert fits("ResponsesRequest", body | {"model": "m"})
    assert fits("CompactionRequest", body | {"model": "m"})
    assert responses_decode.decode(body | {"model": "m"}, Ledger(), signer=SIGNER).model == "m"


def test_whoever_goes_on_need_not_say_more() -> None:
    for name in ("previous_response_id", "conversation"):
        assert fits("ResponsesRequest", {"model": "m", name: "resp_1"})
        assert fits("CompactionRequest", {"model": "m", name: "resp_1"})
        assert fits("InputTokensRequest", {"model": "m", name: "resp_1"})
    assert fits("InputTokensRequest", {"model": "m", "instructions": "Hi"})
    assert not fits("ResponsesRequest", {"model": "m", "instructions": "Hi"})


def test_every_item_that_is_read_is_told() -> None:
    assert {kind for item in SCHEMAS["InputItem"]["anyOf"] for kind in kinds(item)} == ITEMS.keys()


def kinds(item: dict[str, Any]) -> list[str]:
    shape = SCHEMAS[item["$ref"].rpartition("/")[2]] if "$ref" in item else item
    kind = shape["properties"]["type"]
    told: list[str] = kind.get("anyOf", [kind])[0]["enum"]
    return told


@pytest.mark.parametrize("body", CHAT)
def test_what_fits_is_read_as_a_request_for_a_completion(body: dict[str, Any]) -> None:
    asked = body | {"model": "m"}
    assert fits("ChatRequest", asked)
    assert decode.decode(asked, Ledger()).request.model == "m"


@pytest.mark.parametrize("body", CHAT)
def test_the_native_form_has_parsed_arguments(body: dict[str, Any]) -> None:
    """N02."""
    parsed = jsontext.loads(jsontext.compact(body).replace('"arguments":"{}"', '"arguments":{}'))
    asked = parsed | {"model": "m"}
    assert fits("NativeRequest", asked)
    assert fits("ChatRequest", asked) is (parsed == body)
    assert native_decode.decode(asked, {}, Ledger(), CallMaps(TokenSigner("s"))).request.model == "m"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"input": 1},
        {"input": [{"role": "tool", "content": "1"}]},
        {"input": [{"type": "configuration_update", "reasoning": {"summary": "long"}}]},
        {"input": "Hi", "temperature": 3},
        {"input": "Hi", "stream": "yes"},
        {"input": "Hi", "tools": [{"type": "function"}]},
        {"input": "Hi", "text": {"format": {"type": "xml"}}},
    ],
)
def test_what_is_refused_does_not_fit(body: dict[str, Any]) -> None:
    assert not fits("ResponsesRequest", body | {"model": "m"})


def test_what_is_never_served_is_not_offered() -> None:
    offered = request_schemas()["ResponsesRequest"]["properties"]
    assert "prompt" not in offered
    assert {"previous_response_id", "conversation", "background"} <= offered.keys()
    assert "background" not in request_schemas()["CompactionRequest"]["properties"]
    assert "stream" not in request_schemas()["CompactionRequest"]["properties"]
    assert not {"functions", "function_call"} & request_schemas()["NativeRequest"]["properties"].keys()


def test_the_models_that_check_bring_their_bounds_and_no_titles() -> None:
    offered = request_schemas()["ChatRequest"]["properties"]
    assert offered["temperature"]["anyOf"][0] == {"type": "number", "minimum": 0, "maximum": 2}
    assert offered["stream_options"]["anyOf"][0]["properties"].keys() == {"include_usage"}
    assert "title" not in offered["n"]
