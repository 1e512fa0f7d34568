"""No backend can make the decoder raise: any JSON built from the dialect's own words, in any place."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.core import jsontext
from proxy.core.dialects.chat.decode import ChatDecoder
from proxy.core.dialects.reading import errors
from proxy.core.errors import Fault
from proxy.core.events import CallDelta, Delta, ErrorDelta, ReasoningDelta, RefusalDelta, TextDelta
from proxy.core.ledger import Ledger
from proxy.core.profile import DEFAULT

VOCABULARY = """
choices delta message content tool_calls function name arguments id index finish_reason usage x_groq error code type
detail loc msg base_resp status_code http_code fault metadata raw reasoning reasoning_details text thinking logprobs
token bytes refusal function_call object param prompt_tokens completion_tokens_details
"""
WORDS = VOCABULARY.split()
HALF = "\ufffd"
"""Stands for half a character until it is on the wire."""
TEXTS = ["", "stop", "length", "error", "text", "thinking", "{}", '{"error":1}', "<p>", HALF]

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(TEXTS)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
    max_leaves=25,
)
choices = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ("index", "delta", "message", "finish_reason", "usage", "error", "logprobs"), values
    ),
)
chunks = values | st.fixed_dictionaries(
    {},
    optional={
        "choices": st.lists(choices, max_size=3) | values,
        **dict.fromkeys(("usage", "error", "base_resp", "x_groq", "detail", "object", "message"), values),
    },
)


def wire(value: Any) -> bytes:
    return jsontext.dumps(value).replace(HALF.encode(), rb"\ud83d")


def is_well_formed(delta: Delta) -> bool:
    match delta:
        case TextDelta(text) | ReasoningDelta(text) | RefusalDelta(text):
            return isinstance(text, str)
        case CallDelta(index, id, name, arguments):
            texts = (id or "", name or "", arguments)
            return isinstance(index, int | None) and all(isinstance(text, str) for text in texts)
        case ErrorDelta(fault):
            return isinstance(fault, Fault) and fault.message != ""
        case _:
            return True


@given(st.lists(chunks, max_size=4), st.sampled_from([b"", b"error", b"message"]), st.booleans())
def test_any_chunks_and_any_body_become_deltas(said: list[Any], event: bytes, other_choices: bool) -> None:
    deltas: list[Delta] = []
    decoder = ChatDecoder(deltas.append, replace(DEFAULT, calls_in_other_choices=other_choices), Ledger())
    for one in said:
        decoder.event(wire(one), event)
        decoder.body(wire(one))
    assert all(is_well_formed(delta) for delta in deltas)


@given(st.binary(), st.sampled_from([b"", b"error"]))
def test_any_bytes_become_deltas(data: bytes, event: bytes) -> None:
    deltas: list[Delta] = []
    decoder = ChatDecoder(deltas.append, DEFAULT, Ledger())
    decoder.event(data, event)
    decoder.body(data)
    assert all(is_well_formed(delta) for delta in deltas)


@given(values, st.integers(200, 599), st.booleans())
def test_any_refusal_becomes_a_fault(body: Any, status: int, own_key: bool) -> None:
    fault = errors.fault_of(status, {}, wire(body), own_key=own_key)
    assert fault.message
    assert 400 <= fault.status < 600
    assert fault.status != 500
