import pytest

from proxy.core import jsontext
from proxy.core.model import FormatKind, OutputFormat
from proxy.core.tools.answers import NOT_JSON, UNCHECKED, problem_of
from proxy.core.tools.arguments import BRIEF_BYTES, MAX_NESTING

SCHEMA = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}
FORM = OutputFormat(FormatKind.JSON_SCHEMA, schema=SCHEMA)
ANY = OutputFormat(FormatKind.JSON_OBJECT)
NOTHING_SAID = OutputFormat(FormatKind.JSON_SCHEMA)


@pytest.mark.parametrize(
    ("form", "answer", "problem"),
    [
        (FORM, '{"days": 3}', None),
        (FORM, ' {"days": 3}\n', None),
        (FORM, '```json\n{"days": 3}\n```', NOT_JSON),
        (FORM, "Three days.", NOT_JSON),
        (FORM, '{"days": NaN}', NOT_JSON),
        (FORM, '{"days": "x"}', ".days: 'x' is not of type 'integer'"),
        (FORM, "{}", "'days' is a required property"),
        (FORM, "[" * 100_000, NOT_JSON),
        (FORM, "[" * (MAX_NESTING + 1) + "]" * (MAX_NESTING + 1), UNCHECKED),
        (FORM, '{"days": "' + "x" * BRIEF_BYTES + '"}', UNCHECKED),
        (NOTHING_SAID, "7", None),
        (ANY, "{}", None),
        (ANY, "[]", NOT_JSON),
    ],
)
def test_an_answer_has_the_form_or_not(form: OutputFormat, answer: str, problem: str | None) -> None:
    assert problem_of(form, answer) == problem


def test_a_check_that_could_take_long_is_not_made() -> None:
    large = {"type": "array", "items": {"enum": [str(index) for index in range(2000)]}}
    answer = jsontext.compact([str(index) for index in range(2000)])
    assert problem_of(OutputFormat(FormatKind.JSON_SCHEMA, schema=large), answer) == UNCHECKED
    wild = {"type": "string", "pattern": "(a+)+$"}
    assert problem_of(OutputFormat(FormatKind.JSON_SCHEMA, schema=wild), '"' + "a" * 40 + '!"') == UNCHECKED


def test_what_the_model_wrote_is_quoted_in_short() -> None:
    problem = problem_of(FORM, jsontext.compact({"days": "sk-secret-0123456789 " + "x" * 500}))
    assert problem is not None
    assert len(problem) <= 130
    assert "sk-secret" not in problem
