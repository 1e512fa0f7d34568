"""S06, S34: the log is told what a fault is, not what was said."""

import pytest

from proxy.core import errors
from proxy.core.errors import ClientFault, Fault, Garbled, OwnWords, Unreachable
from proxy.core.surfaces.reading.checks import FieldFault
from proxy.shell.ops.fault_facts import facts_of
from tests.support.faults import EVERY

SAID = "what somebody said"


@pytest.mark.parametrize("kind", EVERY)
def test_attack_20_a_fault_that_nobody_thought_about_tells_nothing_but_its_kind(kind: type[Fault]) -> None:
    fault = kind(SAID, code=SAID, param=SAID, details={SAID: SAID})
    fault.__cause__ = ValueError(SAID)
    facts = facts_of(fault)
    assert facts == {"fault": kind.__name__, "code": "other", "param": "*", "cause": "ValueError"}


def test_words_of_our_own_are_told() -> None:
    assert facts_of(Garbled(OwnWords("It is no reply."))) == {
        "fault": "Garbled",
        "code": "upstream_protocol_error",
        "error": "It is no reply.",
    }


def test_words_that_something_was_added_to_are_not() -> None:
    words = OwnWords("It said: ")
    for made in (words + SAID, f"{words}{SAID}", OwnWords("It said: %s") % SAID, OwnWords("{}").format(SAID)):
        assert facts_of(ClientFault(made)) == {"fault": "ClientFault"}


def test_the_place_of_a_field_is_told_and_the_complaint_is_not() -> None:
    fault = FieldFault(".content[0].text", f"is {SAID!r}", "invalid_value").inside("input[2]")
    assert facts_of(fault) == {
        "fault": "FieldFault",
        "code": "invalid_value",
        "param": "input[2].content[0].text",
    }


def test_causes_behind_causes_are_told() -> None:
    fault = Unreachable(SAID)
    try:
        try:
            raise ConnectionResetError(SAID)
        except ConnectionResetError as reset:
            raise KeyError(SAID) from reset
    except KeyError as cause:
        fault.__cause__ = cause
    assert facts_of(fault)["cause"] == "KeyError < ConnectionResetError"
    assert errors.Unreachable.code == facts_of(fault)["code"]
