"""Fields `formats` and `format_with_tools`: the answer's form is enforced where it can be, else put into words."""

from typing import Any

from proxy.core.dialects.writing.answer_format import plan
from proxy.core.ledger import Ledger
from proxy.core.model import FormatKind, OutputFormat
from proxy.core.work import Work
from tests.support.chat_requests import profile
from tests.support.tables import table

SCHEMA = {"type": "object", "properties": {"x": {"type": "string", "$comment": "c"}}}
WANTED = OutputFormat(FormatKind.JSON_SCHEMA, "point", SCHEMA)
OBJECT = OutputFormat(FormatKind.JSON_OBJECT)
BOTH, SCHEMAS, OBJECTS = ({"json_schema", "json_object"}, {"json_schema"}, {"json_object"})
ENFORCED = {
    "type": "json_schema",
    "json_schema": {"name": "point", "schema": {"type": "object", "properties": {"x": {"type": "string"}}}},
}
LOOSE = {"type": "json_object"}


@table(
    ("wanted", "formats", "with_tools", "beside", "response_format", "told"),
    [
        (OutputFormat(), BOTH, False, False, None, False),
        (WANTED, BOTH, False, False, ENFORCED, False),
        (WANTED, SCHEMAS, False, False, ENFORCED, False),
        (WANTED, OBJECTS, False, False, LOOSE, True),
        (WANTED, set(), False, False, None, True),
        (WANTED, BOTH, True, False, None, True),
        (WANTED, BOTH, True, True, ENFORCED, False),
        (OBJECT, BOTH, False, False, LOOSE, False),
        (OBJECT, SCHEMAS, False, False, None, True),
        (OBJECT, BOTH, True, False, None, True),
    ],
)
def test_what_is_asked_for(
    wanted: OutputFormat, formats: Any, with_tools: bool, beside: bool, response_format: Any, told: bool
) -> None:
    on = profile(formats=frozenset(formats), format_with_tools=beside)
    result = plan(wanted, on, Work(), with_tools=with_tools)
    assert result.response_format == response_format
    assert bool(result.instruction) is told


def test_a_schema_is_told_whole_and_exactly() -> None:
    instruction = plan(WANTED, profile(formats=frozenset()), Work(), with_tools=False).instruction or ""
    assert instruction.startswith("Your answer must be one JSON object and nothing else")
    assert '{"type":"object","properties":{"x":{"type":"string","$comment":"c"}}}' in instruction


def test_what_is_not_enforced_of_a_schema_is_counted_and_the_client_is_told() -> None:
    wanted = OutputFormat(
        FormatKind.JSON_SCHEMA, schema={"properties": {"x": {"type": "string", "minLength": 1}}}
    )
    ledger = Ledger()
    plan(wanted, profile(schema=frozenset({"google"})), Work(), with_tools=False).remark(ledger)
    assert ledger.dropped == {"schema:minLength": 1}
    assert ledger.warnings == [
        "The backend does not enforce parts of the schema of the answer: minLength. "
        "Check the answer yourself."
    ]


def test_with_tools_only_the_final_answer_is_meant() -> None:
    for wanted in (WANTED, OBJECT, OutputFormat(FormatKind.JSON_SCHEMA)):
        assert "instead of calling a tool" in (
            plan(wanted, profile(format_with_tools=False), Work(), with_tools=True).instruction or ""
        )


@table(
    ("wanted", "formats", "with_tools", "by_evidence", "unproven"),
    [
        (OutputFormat(), BOTH, True, True, False),
        (WANTED, BOTH, False, True, False),
        (WANTED, BOTH, True, True, True),
        (OBJECT, BOTH, True, True, True),
        (WANTED, BOTH, True, False, False),
        (OBJECT, BOTH, True, False, False),
        (WANTED, OBJECTS, False, False, True),
        (WANTED, set(), False, False, True),
    ],
)
def test_nobody_is_known_to_hold_the_model_to_it(
    wanted: OutputFormat, formats: Any, with_tools: bool, by_evidence: bool, unproven: bool
) -> None:
    on = profile(formats=frozenset(formats), format_by_evidence=by_evidence)
    assert plan(wanted, on, Work(), with_tools=with_tools).unproven is unproven


def test_chat_demands_a_name_and_takes_the_rest_as_given() -> None:
    wanted = OutputFormat(FormatKind.JSON_SCHEMA, None, None, "A point.", strict=False)
    result = plan(wanted, profile(), Work(), with_tools=False)
    assert (result.response_format or {})["json_schema"] == {
        "name": "answer",
        "schema": {},
        "description": "A point.",
        "strict": False,
    }
