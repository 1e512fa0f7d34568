"""What each provider reads, against its tables: nothing it refuses is among it, and all losses are decided."""

from proxy.core.schemas.subsets import DECISIVE, DESCRIBABLE, PROVIDERS, Subset
from tests.support.tables import table

REFUSED_BY_PROTO = {
    "$schema", "$id", "$ref", "$defs", "const", "oneOf", "allOf", "not", "if", "then", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "uniqueItems", "patternProperties", "propertyNames", "prefixItems",
    "additionalProperties",
}  # fmt: skip


def test_the_old_form_of_gemini_gets_nothing_that_it_answers_with_400() -> None:
    assert not REFUSED_BY_PROTO & (PROVIDERS["google_proto"].tools.keywords or set())


@table("subset", [PROVIDERS["anthropic"].answers, PROVIDERS["google"].tools, PROVIDERS["google"].answers])
def test_what_is_narrowed_and_what_decides_are_two_things(subset: Subset) -> None:
    assert not DESCRIBABLE & DECISIVE
    assert DECISIVE & (subset.keywords or set()) <= {"anyOf", "$ref"}


def test_anthropic_reads_tools_loosely_and_answers_strictly() -> None:
    row = PROVIDERS["anthropic"]
    assert (row.tools.keywords, row.tools.root_unions, row.tools.closed) == (None, False, False)
    assert row.answers.closed
