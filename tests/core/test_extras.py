"""What a model puts beside its words: its form, which clients keep, and what is believed of it."""

from typing import Any

from proxy.core.extras import (
    CallProof,
    are_extras,
    detail_extras,
    details_in,
    field_extras,
    field_in,
    proof_extras,
    proofs_in,
    readable,
    signature_extras,
    signatures_in,
    usable_details,
    with_call_ids,
)
from proxy.core.model import Extras
from tests.support.tables import table

PROOF = CallProof("their-1", {"vendor": 1})
DETAILS = [{"type": "reasoning.text", "text": "Hm."}]


@table(
    ("made", "form"),
    [
        (proof_extras(PROOF), {"chat": {"proofs": [{"id": "their-1", "extra_content": {"vendor": 1}}]}}),
        (signature_extras("s"), {"google": {"signatures": [{"signature": "s"}]}}),
        (
            signature_extras("s", model="m", carrier="call"),
            {"google": {"signatures": [{"model": "m", "signature": "s", "place": "call"}]}},
        ),
        (detail_extras(DETAILS), {"chat": {"reasoning_details": DETAILS}}),
    ],
)
def test_the_form_is_the_one_that_clients_have_kept(made: Extras, form: Any) -> None:
    assert repr(made) == repr(form)
    assert are_extras(made)


def test_what_was_put_in_is_found() -> None:
    assert proofs_in(proof_extras(PROOF)) == [PROOF]
    assert signatures_in(signature_extras("s")) == [{"signature": "s"}]
    assert details_in(detail_extras(DETAILS)) == DETAILS


@table("extras", [{}, {"chat": {}}, {"chat": 1, "google": None}, {"google": {"signatures": 1}}])
def test_elsewhere_nothing_is_found(extras: Extras) -> None:
    assert proofs_in(extras) == signatures_in(extras) == details_in(extras) == []


def test_a_proof_follows_its_call_to_another_name() -> None:
    two = {"chat": {"proofs": [{"id": "a", "extra_content": 1}, {"id": "b", "extra_content": 2}]}}
    both = detail_extras(DETAILS)["chat"] | two["chat"]
    named = with_call_ids({"chat": both, "google": {}}, {"a": "their-a", "c": "their-c"})
    assert proofs_in(named) == [("their-a", 1), ("b", 2)]
    assert details_in(named) == DETAILS
    assert "google" in named
    assert proofs_in(two)[0].call_id == "a"


def test_without_proofs_nothing_is_renamed() -> None:
    extras = signature_extras("s")
    assert with_call_ids(extras, {"s": "t"}) is extras


@table(
    ("raw", "usable", "words"),
    [
        (None, [], ""),
        ("Hm.", [], ""),
        ([{"text": "Hm"}, {"summary": "."}, {"data": "x"}], [{"text": "Hm"}, {"summary": "."}, {"data": "x"}], "Hm."),
        (["Hm", {"text": 1, "id": 2}], [{"id": 2}], ""),
    ],
)  # fmt: skip
def test_details_are_objects_with_text_where_text_belongs(raw: Any, usable: Any, words: str) -> None:
    assert usable_details(raw) == usable
    assert readable(raw) == readable(usable) == words


@table(
    ("details", "text"),
    [
        ([{"type": "reasoning.text", "text": "a"}, {"type": "reasoning.summary", "summary": "b"}], "ab"),
        ([{"type": "reasoning.encrypted", "data": "x"}], ""),
        (["a", None, {"text": 7}], ""),
        ("a", ""),
        (None, ""),
    ],
)
def test_readable_thoughts(details: Any, text: str) -> None:
    assert readable(details) == text


@table(
    ("value", "believed"),
    [
        ({}, True),
        ({"a": {"b": []}}, True),
        ({"a": {"b": [1]}}, True),
        ({"a": {"blocks": [{"block": {"type": "thinking"}}]}}, True),
        ([], False),
        ({"a": []}, False),
        ({"a": {"b": {}}}, False),
        ({"a": {"proofs": [1]}}, False),
        ({"a": {"proofs": [{"id": 1, "extra_content": 1}]}}, False),
        ({"a": {"proofs": [{"id": "1"}]}}, False),
        ({"a": {"items": [{"item": {"type": "reasoning"}}]}}, True),
        ({"a": {"items": [{"item": {"type": "message"}}]}}, False),
        ({"a": {"items": [{"item": 1}]}}, False),
        ({"a": {"items": [1]}}, False),
        ({"a": {"blocks": [1]}}, False),
        ({"a": {"blocks": [{"block": {"type": 1}}]}}, False),
    ],
)
def test_what_comes_back_must_have_the_form_that_its_readers_rely_on(value: Any, believed: bool) -> None:
    assert are_extras(value) is believed


def test_the_field_of_thoughts_is_named_for_their_model() -> None:
    extras = field_extras("m", "reasoning")
    assert are_extras(extras)
    assert (field_in(extras), field_in(extras, "m"), field_in(extras, "other")) == ("reasoning",) * 2 + (
        None,
    )
    assert field_in({}) is None
    for entry in ("x", {"field": "reasoning"}, {"model": "m", "field": "content"}):
        assert not are_extras({"chat": {"replay": [entry]}})
