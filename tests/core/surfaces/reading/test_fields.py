"""What the envelopes of all surfaces share: the body itself, fields said by a model, the form of the answer."""

import pytest
from pydantic import TypeAdapter

from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import FormatKind, OutputFormat
from proxy.core.surfaces.reading.fields import (
    MAX_DEPTH,
    Loose,
    NamedSchema,
    RequestOptions,
    Whole,
    checked,
    json_object,
    output_format,
)
from proxy.core.work import Work
from tests.support import chat_asks, responses_asks
from tests.support.tables import table


@table("body", [None, 5, "x", [], True])
def test_a_body_is_an_object(body):
    """F72."""
    with pytest.raises(ClientFault, match="JSON object"):
        json_object(body)


def test_a_body_has_a_depth():
    """S18: what parses must also be writable."""
    inner: list = []
    for _ in range(MAX_DEPTH - 2):
        inner = [inner]
    assert json_object({"x": inner}) == {"x": inner}
    with pytest.raises(ClientFault, match="128 levels"):
        json_object({"x": [inner]})
    assert json_object({}, MAX_DEPTH) == {}
    with pytest.raises(ClientFault, match="128 levels"):
        json_object({"x": [inner]}, MAX_DEPTH + 1)


def test_the_first_complaint_names_the_place():
    class Model(Loose):
        count: int
        options: RequestOptions | None = None

    assert checked(TypeAdapter(Model), {"count": 1, "unknown": 2}).count == 1
    for body, message in (
        ({}, "count is required: see /openapi.json for what belongs there."),
        ({"count": "1"}, "count must be an integer, got string."),
        (
            {"count": 1, "options": {"validate_tool_arguments": 1}},
            "options.validate_tool_arguments must be a boolean, got number.",
        ),
    ):
        with pytest.raises(ClientFault) as caught:
            checked(TypeAdapter(Model), body)
        assert caught.value.message == message
        assert caught.value.param == message.split()[0]


@table("kind", ["text", "json_object"])
def test_a_form_without_a_schema(kind):
    assert output_format(kind, NamedSchema(), "f", Work()) == OutputFormat(FormatKind(kind))


def test_a_form_with_a_schema_is_whole_and_valid():
    wish = NamedSchema(name="n", schema={"type": "object"}, description="d", strict=True)
    assert output_format("json_schema", wish, "f", Work()) == OutputFormat(
        FormatKind.JSON_SCHEMA, "n", {"type": "object"}, "d", True
    )
    for wrong, param in (
        (NamedSchema(schema={}), "f.name"),
        (NamedSchema(name="n"), "f.schema"),
        (NamedSchema(name="n", schema={"type": 5}), "f.schema.type"),
    ):
        with pytest.raises(ClientFault) as caught:
            output_format("json_schema", wrong, "f", Work())
        assert caught.value.param == param


class Counted(Loose):
    count: Whole


@table(("value", "count"), [(5, 5), (5.0, 5), (-0.0, 0), (1e3, 1000)])
def test_a_whole_number_may_be_spelled_with_a_dot(value, count):
    """JSON has one kind of number, and some writers know no other spelling."""
    assert checked(TypeAdapter(Counted), {"count": value}).count == count


@table("value", [5.5, "5", True, None, 1e400])
def test_what_is_no_whole_number(value):
    with pytest.raises(ClientFault, match=r"^count must be an integer, got "):
        checked(TypeAdapter(Counted), {"count": value})


def test_half_a_surrogate_pair_is_no_text():
    """Wherever pydantic looks into it."""
    with pytest.raises(ClientFault, match="name must be text without halves of surrogate pairs"):
        checked(TypeAdapter(NamedSchema), {"name": "\ud800"})


def test_the_field_that_is_too_deep_is_named():
    inner: list = []
    for _ in range(MAX_DEPTH):
        inner = [inner]
    with pytest.raises(ClientFault) as caught:
        json_object({"right": 1, "deep": inner, "deep too": inner})
    assert caught.value.param == "deep"


@pytest.mark.parametrize("asked", [responses_asks.ask, chat_asks.chat], ids=["responses", "chat"])
def test_fields_of_single_servers_are_counted(asked):
    """C05: their clients expect an effect; what nobody knows is ignored."""
    ledger = Ledger()
    asked(ledger, top_k=5, chat_template_kwargs={}, min_p=None, brand_new=1)
    assert ledger.dropped == {"top_k": 1, "chat_template_kwargs": 1}
