"""What the child says to its questions; that it is really ended is seen where it is asked."""

import io

from proxy.core import jsontext
from proxy.shell.offload.check_process import ANSWER, QUESTION, READY, serve

SCHEMA = b'{"properties":{"x":{"pattern":"^(ab)+$"}}}'
MINUTE = 60.0


def answers(*questions: tuple[bytes, bytes]) -> list[object]:
    asked = b"".join(
        QUESTION.pack(MINUTE, len(schema), len(said)) + schema + said for schema, said in questions
    )
    told = io.BytesIO()
    serve(io.BytesIO(asked), told)
    told.seek(0)
    assert told.read(len(READY)) == READY
    found = []
    while size := told.read(ANSWER.size):
        found.append(jsontext.loads(told.read(*ANSWER.unpack(size))))
    return found


def test_attack_02_one_question_after_the_other_until_there_are_no_more() -> None:
    assert answers((SCHEMA, b'{"x":"abab"}'), (SCHEMA, b'{"x":"aba"}'), (b"{}", b"[]")) == [
        None,
        ["invalid_tool_arguments", "'aba' does not match '^(ab)+$'", ".x", False],
        ["malformed_tool_arguments", "The arguments are not a JSON object.", "", False],
    ]


def test_half_characters_are_as_the_model_wrote_them() -> None:
    (answer,) = answers((b"{}", '{"x":"\ud83d"}'.encode("utf-8", "surrogatepass")))
    assert answer == ["malformed_tool_arguments", "The arguments are not valid JSON.", "", False]
