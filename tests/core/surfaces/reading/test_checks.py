"""The wording of refusals: one for all surfaces."""

import pytest

from proxy.core.surfaces.reading import checks
from tests.support.tables import table


@table(
    ("value", "name"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "number"),
        (1.5, "decimal number"),
        ("x", "string"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_values_are_called_by_their_json_names(value, name):
    """The reader of the message wrote JSON and may never have seen Python."""
    assert checks.json_name(value) == name


def test_a_place_put_around_a_fault_stands_in_param_and_message():
    """What is wrong stays said; only where gets longer."""
    fault = checks.wrong_type(".text", "a string", 5).inside("input[3].content[0]")
    assert fault.param == "input[3].content[0].text"
    assert fault.message == "input[3].content[0].text must be a string, got number."
    assert (fault.code, fault.status, fault.type) == ("invalid_type", 400, "invalid_request_error")


@table(
    ("fault", "message", "code"),
    [
        (checks.missing("a.b", "a c"), "a.b is required: a c.", "missing_required_parameter"),
        (checks.wrong_value("a", "is odd."), "a is odd.", "invalid_value"),
        (checks.unsupported("a", "cannot be done."), "a cannot be done.", "unsupported_value"),
        (
            checks.too_many("a", 3, "pears"),
            "a holds more than 3 pears: send fewer.",
            "array_above_max_length",
        ),
    ],
)
def test_each_kind_of_refusal_has_its_code(fault, message, code):
    """Programs read the code, people the message."""
    assert (fault.message, fault.code) == (message, code)


def test_the_checks_hand_back_what_is_right():
    """They narrow types; they never change a value."""
    assert checks.array([1], "a") == [1]
    assert checks.mapping({"k": 1}, "a") == {"k": 1}
    assert checks.string_in({"k": ""}, "k") == ""
    assert checks.optional_string_in({}, "k") is None
    assert checks.optional_string_in({"k": "v"}, "k") == "v"


@table(
    ("check", "param"),
    [
        (lambda: checks.array({}, "a"), "a"),
        (lambda: checks.mapping([], "a"), "a"),
        (lambda: checks.string_in({"k": 1}, "k", "a"), "a.k"),
        (lambda: checks.string_in({"k": None}, "k", "a"), "a.k"),
        (lambda: checks.optional_string_in({"k": 1}, "k", "a"), "a.k"),
    ],
)
def test_the_checks_name_the_place_of_what_is_wrong(check, param):
    """F72: `param` is the path of the field, not of the object around it."""
    with pytest.raises(checks.FieldFault) as caught:
        check()
    assert caught.value.param == param
