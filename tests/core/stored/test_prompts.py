"""What some clients send again with each step of a loop: its prompt, or all of the turn so far."""

from typing import Any

from proxy.core.stored.answered import Answered
from proxy.core.stored.prompts import sent_again
from tests.support.tables import table

RULES = {"role": "developer", "content": "Be brief."}
PARIS = {"type": "message", "role": "user", "content": "The weather in Paris?"}
PARTS = {"role": "user", "content": [{"type": "input_text", "text": "The weather in Paris?"}]}
KEPT = PARTS | {"type": "message", "id": "msg_1", "status": "completed"}
ANSWER = {"type": "message", "role": "assistant", "id": "msg_2", "content": []}
CALL = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "a", "output": "18"}
AGAIN = CALL | {"call_id": "b"}
NEW = OUTPUT | {"call_id": "b"}
THANKS = {"role": "user", "content": "Thanks"}


ANSWERED = ANSWER | {
    "content": [{"type": "output_text", "text": "I look.", "annotations": [], "logprobs": []}]
}
ITS_WORDS = {"role": "assistant", "content": "I look."}
KEPT_CALL = CALL | {"id": "fc_1", "status": "completed", "arguments": '{"city": "\\u00c9vora", "days": 2}'}
WRITTEN_ANEW = CALL | {"arguments": '{"days":2,"city":"Évora"}'}
CUSTOM = {"type": "custom_tool_call", "call_id": "a", "name": "f", "input": "x"}
DEEP = "[" * 1000 + "]" * 1000
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}


@table(
    ("history", "items", "again"),
    [
        ([KEPT, CALL], [PARIS, OUTPUT], {0}),
        ([KEPT, CALL], [PARTS, OUTPUT, THANKS], {0}),
        ([RULES, KEPT, ANSWER, CALL], [RULES, PARIS, OUTPUT], {0, 1}),
        ([THANKS, ANSWER, KEPT, CALL], [PARIS, OUTPUT], {0}),
        ([KEPT, CALL, OUTPUT, AGAIN], [PARIS, OUTPUT, NEW], {0}),
        # With what the model has said and called.
        ([KEPT, CALL], [PARIS, CALL, OUTPUT], {0, 1}),
        ([KEPT, CALL], [CALL, OUTPUT], {0}),
        ([KEPT, THOUGHT, ANSWERED, KEPT_CALL], [PARIS, ITS_WORDS, WRITTEN_ANEW, OUTPUT], {0, 1, 2}),
        ([KEPT, ANSWERED, KEPT_CALL], [PARIS, WRITTEN_ANEW, OUTPUT], {0, 1}),
        ([KEPT, CALL, AGAIN], [PARIS, CALL, OUTPUT, AGAIN, NEW], {0, 1, 3}),
        ([KEPT, CALL, OUTPUT, ANSWERED, AGAIN], [PARIS, CALL, OUTPUT, ITS_WORDS, AGAIN, NEW], {0, 1, 3, 4}),
        # What has its id is known by it.
        ([KEPT, THOUGHT, KEPT_CALL], [PARIS, THOUGHT, KEPT_CALL, OUTPUT], {0}),
        ([KEPT, KEPT_CALL], [PARIS, {"type": "item_reference", "id": "fc_1"}, OUTPUT], {0}),
        ([KEPT, CUSTOM], [CUSTOM, OUTPUT | {"type": "custom_tool_call_output"}], {0}),
        ([KEPT, CALL | {"arguments": "{"}], [CALL | {"arguments": "{"}, OUTPUT], {0}),
        ([CALL | {"arguments": DEEP}], [CALL | {"arguments": DEEP}, OUTPUT], {0}),
        # Nothing waits for an output: the user may ask the same again.
        ([KEPT], [PARIS], set()),
        ([KEPT, CALL], [PARIS], set()),
        ([KEPT, CALL, OUTPUT], [PARIS, OUTPUT], set()),
        ([KEPT, CALL], [OUTPUT, PARIS], set()),
        # Other words, another speaker, or an older message.
        ([KEPT, CALL], [THANKS, OUTPUT], set()),
        ([KEPT, CALL], [PARIS | {"role": "developer"}, OUTPUT], set()),
        ([KEPT, CALL], [THANKS, PARIS, OUTPUT], set()),
        ([KEPT, THANKS, CALL], [PARIS, OUTPUT], set()),
        ([KEPT, ANSWERED, CALL], [PARIS, ITS_WORDS | {"content": "I see."}, CALL, OUTPUT], set()),
        # Another call of the same id, or something else beside it: who sends so much means it.
        ([KEPT, CALL], [CALL | {"name": "g"}, OUTPUT], set()),
        ([KEPT, CALL], [CALL | {"arguments": '{"a": 1}'}, OUTPUT], set()),
        ([KEPT, CALL], [CALL, PARIS, OUTPUT], set()),
        ([KEPT, CALL], [PARIS, THOUGHT, OUTPUT], set()),
        ([KEPT, CALL], [PARIS, THOUGHT | {"id": ["rs_1"]}, OUTPUT], set()),
        ([KEPT, CALL], ["Hi", OUTPUT], set()),
        ([KEPT, CALL], [ITS_WORDS | {"content": 7}, OUTPUT], set()),
        ([KEPT, CALL], [{"type": 7}, OUTPUT], set()),
        # Only outputs, which are known one by one.
        ([CALL, OUTPUT, AGAIN], [OUTPUT, NEW], set()),
        ([], [PARIS, OUTPUT], set()),
    ],
)
def test_t20_what_stands_in_front_of_the_outputs_of_its_calls_is_known(
    history: Any, items: Any, again: set[int]
) -> None:
    ids = {item["id"] for item in history if "id" in item}
    assert sent_again(items, history, Answered(history), ids) == again
