"""The prompt of a loop, which some clients send again with each step of it."""

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


@table(
    ("history", "items", "again"),
    [
        ([KEPT, CALL], [PARIS, OUTPUT], 1),
        ([KEPT, CALL], [PARTS, OUTPUT, THANKS], 1),
        ([RULES, KEPT, ANSWER, CALL], [RULES, PARIS, OUTPUT], 2),
        ([THANKS, ANSWER, KEPT, CALL], [PARIS, OUTPUT], 1),
        ([KEPT, CALL, OUTPUT, AGAIN], [PARIS, OUTPUT, NEW], 2),
        # Nothing waits for an output: the user may ask the same again.
        ([KEPT], [PARIS], 0),
        ([KEPT, CALL], [PARIS], 0),
        ([KEPT, CALL, OUTPUT], [PARIS, OUTPUT], 0),
        ([KEPT, CALL], [OUTPUT, PARIS], 0),
        # Other words, another speaker, or an older message.
        ([KEPT, CALL], [THANKS, OUTPUT], 0),
        ([KEPT, CALL], [PARIS | {"role": "developer"}, OUTPUT], 0),
        ([KEPT, CALL], [THANKS, PARIS, OUTPUT], 0),
        ([KEPT, THANKS, CALL], [PARIS, OUTPUT], 0),
        # Something else beside it: who sends so much means it.
        ([KEPT, CALL], [PARIS, ANSWER, OUTPUT], 0),
        ([KEPT, CALL], [PARIS, CALL, OUTPUT], 0),
        ([KEPT, CALL], ["Hi", OUTPUT], 0),
        # Only outputs, which are known one by one.
        ([CALL, OUTPUT, AGAIN], [OUTPUT, NEW], 0),
        ([], [PARIS, OUTPUT], 0),
    ],
)
def test_t20_a_prompt_in_front_of_the_outputs_of_its_calls_is_known(
    history: Any, items: Any, again: int
) -> None:
    assert sent_again(items, history, Answered(history)) == again
