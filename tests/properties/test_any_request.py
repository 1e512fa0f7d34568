"""Properties: whatever JSON comes in, only a ClientFault may come out; whatever history, one order."""

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import shown
from proxy.core.model import Call, Part, Reasoning, Refusal, Request, Result, Role, Text, ToolName, Turn
from proxy.core.surfaces.reading.content import PARTS
from proxy.core.surfaces.reading.history import canonical
from proxy.core.surfaces.responses.decode import decode
from proxy.core.surfaces.responses.envelope import ResponsesEnvelope
from proxy.core.surfaces.responses.items import ITEMS, ROLES
from tests.properties.canonical import assert_canonical
from tests.support.responses_asks import called, result

# ── any body ───────────────────────────────────────────────────────────────────────────────────────────────────

WORDS = st.sampled_from(
    [
        *PARTS,
        *ITEMS,
        *ROLES,
        "auto",
        "none",
        "required",
        "allowed_tools",
        "namespace",
        "custom",
        "json_schema",
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
        "call_id",
        "id",
        "name",
        "arguments",
        "output",
        "input",
        "summary",
        "tools",
        "function",
        "parameters",
        "format",
        "mode",
        "image_url",
        "file_id",
        "input_audio",
        "audio_url",
        "schema",
        "strict",
        "encrypted_content",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=3)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=25,
)
TYPED = st.fixed_dictionaries({"type": WORDS}, optional=dict.fromkeys(["role", "call_id", "name"], WORDS))
THINGS = st.builds(lambda typed, more: more | typed, TYPED, st.dictionaries(KEYS, JSON, max_size=4))
FIELDS = st.sampled_from(sorted(ResponsesEnvelope.__annotations__))
BODIES = st.builds(
    lambda least, more, items: least | more | items,
    st.just({"model": "m", "input": "x"}),
    st.dictionaries(FIELDS, JSON | THINGS, max_size=4),
    st.fixed_dictionaries(
        {}, optional={"input": st.lists(THINGS, max_size=5), "tools": st.lists(THINGS, max_size=3)}
    ),
)


@settings(max_examples=200, deadline=None)
@given(body=JSON | BODIES, orphan_outputs=st.sampled_from(["refuse", "drop"]))
def test_only_a_client_fault_ever_comes_of_a_body(body: Any, orphan_outputs: Any) -> None:
    """F72: anything else would be a 500, and a bug of ours."""
    answer = answer_to(body, orphan_outputs)
    if isinstance(answer, ClientFault):
        assert 400 <= answer.status < 500
        assert answer.message
    else:
        assert answer.model
        assert answer.turns
        assert_canonical(answer.turns)


def answer_to(body: Any, orphan_outputs: Any) -> Request | ClientFault:
    try:
        return decode(body, Ledger(), orphan_outputs)
    except ClientFault as fault:
        return fault


# ── any history ────────────────────────────────────────────────────────────────────────────────────────────────

IDS = st.sampled_from(["a", "b", "a_2", ""])
TEXTS = st.sampled_from(["", "x", "y"])
SPOKEN = st.builds(Text, TEXTS) | st.builds(Refusal, TEXTS) | st.builds(Reasoning, TEXTS)
REPLIES = st.lists(SPOKEN | st.builds(called, IDS), max_size=3)
OTHERS = st.sampled_from([Role.USER, Role.SYSTEM, Role.DEVELOPER])
TURNS = (
    st.tuples(st.just(Role.ASSISTANT), REPLIES)
    | st.tuples(st.just(Role.TOOL), st.lists(st.builds(result, IDS, TEXTS), max_size=3))
    | st.tuples(OTHERS, st.lists(TEXTS, max_size=2))
)
HISTORIES = st.lists(TURNS, max_size=12)

PATH_OF = "input[{}].call_id".format


@settings(max_examples=200, deadline=None)
@given(turns=HISTORIES, unawaited=st.sampled_from([frozenset(), frozenset({called("a").tool})]))
def test_any_history_comes_out_in_the_one_order(turns: list[Turn], unawaited: frozenset[ToolName]) -> None:
    """R03, G10. Whoever reads of each call at debug gets the same."""
    told, untold = Ledger(), Ledger(details=False)
    ordered = canonical(turns, told, "drop", unawaited=unawaited)
    assert_canonical(ordered)
    assert canonical(turns, untold, "drop", unawaited=unawaited) == ordered
    assert untold.entries() == told.entries()


@settings(max_examples=200, deadline=None)
@given(turns=HISTORIES)
def test_what_is_in_order_stays_as_it_is(turns: list[Turn]) -> None:
    """A stored history can be put before new items and ordered again."""
    once = canonical(turns, Ledger(), "drop")
    for ledger in (Ledger(), Ledger(details=False)):
        assert canonical(once, ledger) == once
        assert not ledger.oddities
        assert not ledger.dropped


def texts(parts: list[Part]) -> Counter[str]:
    words = (part for part in parts if isinstance(part, str) and part)
    said = (part for part in parts if isinstance(part, Text | Refusal | Reasoning) and part.text)
    return Counter(words) + Counter(f"{type(part).__name__} {part.text}" for part in said)


@settings(max_examples=200, deadline=None)
@given(turns=HISTORIES)
def test_no_part_is_lost_uncounted(turns: list[Turn]) -> None:
    """What is not passed on is counted as dropped, what is made up as odd."""
    ledger = Ledger()
    ordered = canonical(turns, ledger, "drop")
    before = [part for _, parts in turns for part in parts]
    after = [part for _, parts in ordered for part in parts]
    assert texts(after) == texts(before)
    assert sum(isinstance(part, Call) for part in after) == sum(isinstance(part, Call) for part in before)
    results = sum(isinstance(part, Result) for part in after)
    assert results == (
        sum(isinstance(part, Result) for part in before)
        - ledger.dropped.get("orphan_output", 0)
        + ledger.oddities.get("missing_output", 0)
    )


@settings(max_examples=200, deadline=None)
@given(turns=HISTORIES)
def test_a_refused_history_names_the_place_or_the_call(turns: list[Turn]) -> None:
    """It is refused exactly when something would have been dropped."""
    ledger = Ledger()
    ordered = canonical(turns, ledger, "drop")
    if "orphan_output" in ledger.dropped:
        with pytest.raises(ClientFault, match="call_id") as caught:
            canonical(turns, Ledger(), "refuse", PATH_OF)
        words, param = str(caught.value), caught.value.param
        if place := re.search(r"input\[(\d+)\]\.call_id", words):
            assert turns[int(place[1])][0] is Role.TOOL
            assert param == place[0]
        else:
            results = {part.call_id for _, parts in turns for part in parts if isinstance(part, Result)}
            assert any(words.endswith(f" call_id {shown(call_id)}.") for call_id in results)
            assert param == "input"
    else:
        assert canonical(turns, Ledger(), "refuse", PATH_OF) == ordered
