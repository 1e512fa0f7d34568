"""Parameters of a query, in the forms in which clients send them."""

from typing import Any

import pytest

from proxy.core.errors import ClientFault
from proxy.core.stored.queries import INCLUDABLE, Query, included, retrieval
from tests.support.tables import table


def query(*pairs: tuple[str, str]) -> Query:
    return Query(pairs)


def refusal(read: Any, *pairs: tuple[str, str]) -> tuple[int, str | None, str | None, str]:
    with pytest.raises(ClientFault) as refused:
        read(query(*pairs))
    fault = refused.value
    return fault.status, fault.code, fault.param, fault.message


LOGPROBS, RESULTS = "message.output_text.logprobs", "file_search_call.results"


@table(
    "pairs",
    [
        [("include", LOGPROBS), ("include", RESULTS)],
        [("include[]", LOGPROBS), ("include[]", RESULTS)],
        [("include[]", LOGPROBS), ("include", RESULTS)],
    ],
)
def test_a_list_comes_in_two_forms(pairs: list[tuple[str, str]]) -> None:
    assert included(query(*pairs)) == {LOGPROBS, RESULTS}


def test_all_that_the_api_can_include_is_known() -> None:
    assert included(query(*(("include", word) for word in INCLUDABLE))) == INCLUDABLE
    assert included(query()) == frozenset()


def test_t33_an_unknown_word_is_refused() -> None:
    status, code, param, message = refusal(included, ("include", LOGPROBS), ("include", "x"))
    assert (status, code, param) == (400, "invalid_value", "include")
    assert message.startswith("include must be of code_interpreter_call.outputs, ")
    assert message.endswith(", web_search_call.results, got 'x'.")


def test_t33_encrypted_content_of_something_stored_is_refused() -> None:
    words = "Encrypted content cannot be requested for persisted responses."
    assert refusal(retrieval, ("include[]", "reasoning.encrypted_content")) == (400, None, "include", words)


@table(
    ("pairs", "wanted"),
    [
        ([], (False, -1)),
        ([("stream", "false")], (False, -1)),
        ([("stream", "true")], (True, -1)),
        ([("stream", "true"), ("starting_after", "0")], (True, 0)),
        ([("stream", "true"), ("starting_after", "41"), ("include_obfuscation", "x")], (True, 41)),
        ([("stream", "true"), ("starting_after", "9" * 30)], (True, 10**18)),
        ([("stream", "true"), ("stream", "false")], (True, -1)),
        # Without a stream it has no effect.
        ([("starting_after", "3")], (False, -1)),
        ([("starting_after", "x")], (False, -1)),
        ([("include", LOGPROBS)], (False, -1)),
    ],
)
def test_t34_how_a_response_is_wanted(pairs: list[tuple[str, str]], wanted: tuple[bool, int]) -> None:
    assert retrieval(query(*pairs)) == wanted


@table("said", ["maybe", "", "True", "1"])
def test_t34_a_switch_is_true_or_false(said: str) -> None:
    words = f"stream must be true or false, got '{said}'."
    assert refusal(retrieval, ("stream", said)) == (400, "invalid_value", "stream", words)


@table("said", ["-1", "x", "", "1e99", "1.0", "٣", "-", "--1", "+1"])
def test_t60_what_is_no_number_of_an_event(said: str) -> None:
    words = f"starting_after must be the number of an event, 0 or more, got '{said}'."
    told = refusal(retrieval, ("stream", "true"), ("starting_after", said))
    assert told == (400, "invalid_value", "starting_after", words)


@table(
    ("said", "number"),
    [("0", 0), ("-0", 0), ("007", 7), ("-12", -12), ("9" * 18, 10**18 - 1), ("-" + "9" * 5000, -(10**18))],
)
def test_a_whole_number(said: str, number: int) -> None:
    assert query(("limit", said)).number("limit") == number


def test_what_is_not_there() -> None:
    assert query().number("limit") is query().first("limit") is None
    assert query().every("limit") == []
