"""What only the final response says: added if it is new, and never told or called twice."""

from typing import Any

from proxy.core.dialects.responses.entries import ARGUMENTS, CALL, MESSAGE, REASONING
from proxy.core.dialects.responses.growing import Growing, GrowingText
from proxy.core.dialects.responses.left_out import of
from proxy.core.ledger import Ledger
from tests.support.chat_requests import nested
from tests.support.responses_requests import Json, function_call, message, reasoning
from tests.support.tables import table

REFUSED = {"type": "refusal", "refusal": "No."}


def streamed(*items: Json) -> list[Growing]:
    found = []
    for item in items:
        kind = {"function_call": CALL, "reasoning": REASONING, "message": MESSAGE}.get(item["type"])
        growing = Growing(kind, item, name=item.get("name"), done=True)
        if kind is CALL:
            growing.said(ARGUMENTS).add(item["arguments"])
        found.append(growing)
    return found


def said(text: str) -> GrowingText:
    found = GrowingText()
    found.add(text)
    return found


SEARCH = {"type": "web_search_call"}


@table(
    ("before", "output", "new", "odd"),
    [
        ([message("A")], [message("A")], [], {}),
        ([message("A")], [message("AB")], ["message"], {}),
        ([message("A")], [message("A"), message("B")], ["message"], {}),
        ([message("A")], [message("C")], [], {"text_differs": 1}),
        ([message("A")], [message(REFUSED)], ["message"], {}),
        ([message("A")], [message("A"), reasoning("B"), SEARCH], ["reasoning", "web_search_call"], {}),
        ([message("A")], [reasoning("B")], ["reasoning"], {}),
        ([reasoning("A")], [reasoning("B")], [], {}),
        ([message("A")], [SEARCH], ["web_search_call"], {}),
        ([SEARCH], [SEARCH], [], {}),
        ([message("A")], [function_call("{}")], ["function_call"], {}),
        ([function_call("{}")], [function_call("{}")], [], {}),
        ([function_call("{}")], [function_call('{"a":1}')], [], {"arguments_differ": 1}),
        ([function_call("{}")], [function_call("{}"), function_call("{}")], ["function_call"], {}),
        ([function_call("{}")], [function_call('{"a":1}'), function_call("{}")], ["function_call"], {}),
        ([function_call("{}")], [function_call(nested(300))], ["function_call"], {}),
    ],
)
def test_what_is_new(before: list[Json], output: list[Json], new: list[str], odd: dict[str, int]) -> None:
    ledger = Ledger()
    told: dict[Any, GrowingText] = {"text": said("A"), "refusal": GrowingText()}
    found = of(output, output, streamed(*before), lambda voice, text: told[voice].rest(text), ledger)
    assert [item["type"] for item in found] == new
    assert ledger.oddities == odd


def test_only_what_is_missing_of_a_message() -> None:
    output = [message("AB"), message(REFUSED)]
    told: dict[Any, GrowingText] = {"text": said("A"), "refusal": GrowingText()}
    (item,) = of(output, output, streamed(message("A")), lambda voice, text: told[voice].rest(text), Ledger())
    assert item["content"] == [{"type": "output_text", "text": "B"}, REFUSED]
