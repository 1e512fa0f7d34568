"""Properties of the two chat-like surfaces: whatever JSON comes in, only a ClientFault may come out."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.surfaces.chat import decode
from proxy.core.surfaces.chat.turns import SPEAKERS
from proxy.core.surfaces.memory.call_ids import HEADER, CallMaps, as_backend_knows
from proxy.core.surfaces.native import decode as native_decode
from proxy.core.surfaces.native.decode import NativeEnvelope
from tests.properties.canonical import assert_canonical
from tests.support.chat_asks import SIGNER

IDS = st.sampled_from(["a", "b", "function_call_1", ""])
NAMES = st.sampled_from(["f", "g", ""])
WORDS = st.sampled_from(
    [
        *SPEAKERS,
        "text",
        "image_url",
        "file",
        "refusal",
        "custom",
        "auto",
        "required",
        "allowed_tools",
        "json_schema",
        "object",
        "string",
        "x",
        "",
    ]
)
KEYS = st.sampled_from(
    [
        "type",
        "role",
        "content",
        "text",
        "id",
        "name",
        "arguments",
        "input",
        "function",
        "custom",
        "tool_calls",
        "tool_call_id",
        "function_call",
        "is_error",
        "reasoning",
        "reasoning_details",
        "extra_content",
        "google",
        "thought_signature",
        "parameters",
        "properties",
        "required",
        "additionalProperties",
        "strict",
        "description",
        "file",
        "image_url",
        "allowed_tools",
        "mode",
        "tools",
        "schema",
        "json_schema",
        "call_ids",
        "refusal",
        "audio",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=3)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=20,
)
FUNCTIONS = st.fixed_dictionaries({"name": NAMES}, optional={"arguments": JSON, "input": JSON})
CALLS = st.fixed_dictionaries(
    {"id": IDS, "type": st.sampled_from(["function", "custom"]), "function": FUNCTIONS},
    optional={"custom": FUNCTIONS, "extra_content": JSON},
)
MESSAGES = st.one_of(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "system"]), "content": JSON}),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.none() | st.text(max_size=2)},
        optional={
            "tool_calls": st.lists(CALLS, max_size=3),
            "function_call": FUNCTIONS,
            "reasoning_content": JSON,
            "reasoning_details": st.lists(JSON, max_size=2),
        },
    ),
    st.fixed_dictionaries(
        {"role": st.just("tool"), "tool_call_id": IDS, "content": st.text(max_size=2) | JSON},
        optional={"name": NAMES, "is_error": st.booleans()},
    ),
    st.fixed_dictionaries({"role": st.just("function"), "name": NAMES, "content": st.text(max_size=2)}),
)
DECLARED = st.fixed_dictionaries(
    {"name": NAMES},
    optional={
        "description": st.just("d"),
        "strict": st.booleans(),
        "parameters": JSON
        | st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(NAMES, JSON, max_size=2)}
        ),
    },
)
TOOLS = st.fixed_dictionaries(
    {"type": st.sampled_from(["function", "custom", "x"]), "function": DECLARED | JSON}
)
FIELDS = st.sampled_from([field.alias or name for name, field in NativeEnvelope.model_fields.items()])
LEAST: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
BODIES = st.builds(
    lambda more, lists: LEAST | more | lists,
    st.dictionaries(FIELDS, JSON, max_size=2),
    st.fixed_dictionaries(
        {"messages": st.lists(MESSAGES | JSON, min_size=1, max_size=5)},
        optional={"tools": st.lists(TOOLS, max_size=2), "functions": st.lists(DECLARED, max_size=2)},
    ),
)


def as_round(words: str, calls: list[dict[str, Any]], said: Any) -> list[dict[str, Any]]:
    """An answer with calls, each with its result, and what the user says to that."""
    results = [{"role": "tool", "tool_call_id": call["id"], "content": words} for call in calls]
    user = {"role": "user", "content": "x"}
    return [{"role": "assistant", "content": words, "tool_calls": calls, "reasoning": said}, *results, user]


SOUND_CALLS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from(["a", "b", "c"]),
            "function": st.fixed_dictionaries({"name": st.just("f"), "arguments": st.just({"x": 1})}),
        },
        optional={"extra_content": JSON},
    ),
    max_size=2,
    unique_by=lambda call: call["id"],
)
SOUND = st.builds(
    lambda rounds, more, strange: (
        LEAST
        | {"messages": [*LEAST["messages"], *(each for said in rounds for each in said), *strange]}
        | more
    ),
    st.lists(st.builds(as_round, st.text(max_size=2), SOUND_CALLS, JSON), max_size=2),
    st.dictionaries(FIELDS.filter(lambda name: name not in LEAST), st.none() | JSON, max_size=1),
    st.lists(MESSAGES, max_size=1),
)
"""Whole conversations, of which at most two things are strange."""


def assert_asked(request: Request) -> None:
    assert request.model
    assert request.turns
    assert_canonical(request.turns)


def assert_refused(fault: ClientFault) -> None:
    assert 400 <= fault.status < 500
    assert fault.message


@settings(max_examples=300, deadline=None)
@given(body=JSON | BODIES | SOUND)
def test_only_a_client_fault_ever_comes_of_a_chat_body(body: Any) -> None:
    """F72, C02: anything else would be a 500, and a bug of ours."""
    try:
        assert_asked(decode.decode(body, Ledger()).request)
    except ClientFault as fault:
        assert_refused(fault)


@settings(max_examples=300, deadline=None)
@given(body=JSON | BODIES | SOUND, token=st.none() | st.text(max_size=9), known=st.sets(IDS))
def test_only_a_client_fault_ever_comes_of_a_native_body(
    body: Any, token: str | None, known: set[str]
) -> None:
    """F72, N03: with and without a map of call ids."""
    maps = CallMaps(SIGNER)
    brought = maps.fresh("")
    for call_id in known:
        brought.note(call_id, f"x{call_id}")
    headers = {HEADER: brought.token() if known else token} if token is not None else {}
    try:
        asked = native_decode.decode(body, headers, Ledger(), maps)
    except ClientFault as fault:
        assert_refused(fault)
    else:
        assert_asked(asked.request)
        assert_canonical(as_backend_knows(asked.request).turns)
        assert asked.call_map.learn(asked.call_map.token())
