"""What a Chat backend wants back is kept as it came, to the last digit and no deeper than can be sent."""

from dataclasses import replace
from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.chat.decode import ChatDecoder
from proxy.core.dialects.reading.decoding import MAX_KEPT_DEPTH
from proxy.core.errors import Garbled
from proxy.core.events import (
    CallDelta,
    Delta,
    ErrorDelta,
    ReasoningDelta,
)
from proxy.core.extras import field_extras
from proxy.core.ledger import Ledger
from proxy.core.profile import DEFAULT
from tests.support.chat_chunks import Decoded, chunk
from tests.support.chat_requests import nested
from tests.support.tables import table


def test_what_the_backend_will_want_back_is_kept_beside_the_words() -> None:
    """Only where it is wanted back, and only if a client carries it."""
    details = [{"type": "reasoning.encrypted", "data": "x"}]
    said = chunk({"reasoning": "Hm", "reasoning_details": details})
    kept: list[Any] = []
    for replay, keep in (
        ("reasoning_details", kept.append),
        ("none", kept.append),
        ("reasoning_details", None),
    ):
        deltas: list[Delta] = []
        profile = replace(DEFAULT, replay=replay, replay_by_evidence=False)
        decoder = ChatDecoder(deltas.append, profile, Ledger(), keep)
        for one in (said, chunk({"reasoning_details": []}), chunk({"reasoning_details": "x"})):
            decoder.event(jsontext.dumps(one), b"")
        assert deltas == [ReasoningDelta("Hm")]
    assert kept == [{"chat": {"reasoning_details": details}}]


def test_the_field_of_the_thoughts_is_named_once_where_nobody_knows_it() -> None:
    kept: list[Any] = []
    decoder = ChatDecoder(lambda delta: None, DEFAULT, Ledger(), kept.append, model="m")
    for said in ({"reasoning_text": "a"}, {"reasoning": "a"}, {"reasoning_content": "b"}):
        decoder.event(jsontext.dumps(chunk(said)), b"")
    assert kept == [field_extras("m", "reasoning")]


def test_what_stands_beside_a_call_is_kept_under_its_id() -> None:
    """Gemini's proof that the call is its own."""
    proof = {"google": {"thought_signature": "sig"}}
    function = {"name": "f", "arguments": "{}"}
    calls = [
        {"index": 0, "id": "a", "function": function, "extra_content": proof},
        {"index": 1, "id": "b", "function": function},
        {"index": 2, "function": function, "extra_content": proof},
    ]
    for signed, expected in (
        (True, [{"chat": {"proofs": [{"id": "a", "extra_content": proof}]}}]),
        (False, []),
    ):
        kept: list[Any] = []
        profile = replace(DEFAULT, signed_calls=signed)
        ChatDecoder([].append, profile, Ledger(), kept.append).event(
            jsontext.dumps(chunk({"tool_calls": calls})), b""
        )
        assert kept == expected


@table(
    "delta",
    [
        {"reasoning_details": [nested(MAX_KEPT_DEPTH)]},
        {"tool_calls": [{"index": 0, "id": "a", "extra_content": nested(MAX_KEPT_DEPTH + 1)}]},
    ],
)
def test_attack_27_what_is_too_deep_to_be_sent_back_is_the_backends_fault(delta: dict[str, Any]) -> None:
    deltas: list[Delta] = []
    kept: list[Any] = []
    profile = replace(DEFAULT, replay="reasoning_details", signed_calls=True)
    ChatDecoder(deltas.append, profile, Ledger(), kept.append).event(jsontext.dumps(chunk(delta)), b"")
    assert [type(one.fault) for one in deltas if isinstance(one, ErrorDelta)] == [Garbled]
    assert not kept


BIG = "20000000000000000001"


def test_attack_21_arguments_that_are_objects_keep_every_digit() -> None:
    """Of several calls each its own, though all look the same once they are rounded."""
    said = [
        f'{{"index":{index},"id":"{index}","function":{{"name":"f","arguments":{{"a":[{index},{BIG[:-1]}{index}]}}}}}}'
        for index in range(3)
    ]
    decoded = Decoded().say(f'{{"choices":[{{"delta":{{"tool_calls":[{",".join(said)}]}}}}]}}'.encode())
    told = [delta.arguments for delta in decoded.deltas if isinstance(delta, CallDelta)]
    assert told == [f'{{"a":[{index},{BIG[:-1]}{index}]}}' for index in range(3)]


def test_attack_21_digits_elsewhere_in_an_event_or_before_it_are_none_of_theirs() -> None:
    call = '{"index":0,"id":"a","function":{"name":"f","arguments":{"a":1}}}'
    clean = f'{{"created":{BIG},"choices":[{{"delta":{{"tool_calls":[{call}]}}}}]}}'.encode()
    mended = b"\xef\xbb\xbf" + f'{{"choices":[{{"delta":{{"tool_calls":[{call}]}}}}]}}'.encode()
    for events in ([clean], [clean, mended]):
        decoded = Decoded().say(*events)
        assert decoded.deltas[-1] == CallDelta(0, "a", "f", '{"a":1}')


def test_attack_21_numbers_too_long_to_be_read_fail_by_name() -> None:
    call = f'{{"index":0,"id":"a","function":{{"name":"f","arguments":{{"a":{BIG}}}}}}}'
    filler = "x" * jsontext.MAX_EXACT
    decoded = Decoded().say(
        f'{{"filler":"{filler}","choices":[{{"delta":{{"tool_calls":[{call}]}}}}]}}'.encode()
    )
    failure = decoded.deltas[0]
    assert isinstance(failure, ErrorDelta)
    assert failure.fault.message.endswith("nested too deeply, or hold numbers that are too long.")
