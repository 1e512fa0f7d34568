"""Outputs that a client sends again."""

from typing import Any

from proxy.core.stored.answered import Answered
from tests.support.tables import table

CALL = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "18"}
STORED = OUTPUT | {"id": "fco_1", "status": "completed"}
SEARCHED = {"type": "tool_search_output", "call_id": "c", "tools": []}


@table(
    ("history", "item", "has"),
    [
        ([], OUTPUT, False),
        ([CALL], OUTPUT, False),
        ([CALL, STORED], OUTPUT, True),
        ([CALL, STORED], OUTPUT | {"id": "mine"}, True),
        ([STORED], OUTPUT, True),
        ([CALL, STORED], OUTPUT | {"output": "19"}, False),
        ([CALL, STORED], OUTPUT | {"call_id": "d"}, False),
        ([CALL, STORED], OUTPUT | {"type": "custom_tool_call_output"}, False),
        ([CALL, SEARCHED | {"id": "t"}], SEARCHED, True),
        # It is the output of the newer call.
        ([CALL, STORED, CALL], OUTPUT, False),
        ([CALL, CALL, STORED], OUTPUT, False),
        ([CALL, STORED, CALL, STORED], OUTPUT, True),
        # What is no output, or cannot be read.
        ([CALL, STORED], CALL, False),
        ([CALL, STORED], {"type": 7, "call_id": "c"}, False),
        ([CALL, STORED], {"type": "function_call_output", "call_id": {}}, False),
        ([{"type": "message", "role": "user", "content": "Hi"}], "Hi", False),
    ],
)
def test_t20_an_output_of_the_history_is_known(history: Any, item: Any, has: bool) -> None:
    assert Answered(history).has(item) is has


@table(
    ("own", "has"),
    [([CALL], False), ([CALL, OUTPUT], True), (["Hi", {"call_id": 7}], True)],
)
def test_what_the_request_adds_waits_too(own: Any, has: bool) -> None:
    answered = Answered([CALL, STORED])
    for item in own:
        answered.add(item)
    assert answered.has(OUTPUT) is has
