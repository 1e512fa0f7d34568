"""The form of the answer: asked for where the backend enforces it, put into words where it does not."""

from collections.abc import Collection
from typing import Any, NamedTuple

from proxy.core import jsontext
from proxy.core.ledger import Ledger
from proxy.core.model import FormatKind, OutputFormat
from proxy.core.profile import AnswerFormat, BackendProfile
from proxy.core.schemas import for_backend
from proxy.core.schemas.traversal import Schema
from proxy.core.work import Work

NAMELESS = "answer"
"""Chat demands a name for a schema."""


class FormatPlan(NamedTuple):
    response_format: dict[str, Any] | None
    instruction: str | None
    relaxed: tuple[str, ...] = ()
    """The backend does not enforce these keywords of the schema: it is told of them in words, or not at all."""
    unproven: bool = False
    """Is nobody known to hold the model to the form?"""

    def remark(self, ledger: Ledger) -> None:
        for keyword in self.relaxed:
            ledger.drop(f"schema:{keyword}")
        if self.relaxed:
            ledger.warn(
                "The backend does not enforce parts of the schema of the answer: "
                f"{', '.join(self.relaxed)}. Check the answer yourself."
            )


NO_FORMAT = FormatPlan(None, None)
TEXT = FormatKind.TEXT
"""Needed with every request: Python 3.11 is slow to find a member in its enumeration."""


def plan(
    wanted: OutputFormat,
    profile: BackendProfile,
    work: Work,
    *,
    with_tools: bool,
    formats: Collection[AnswerFormat] | None = None,
) -> FormatPlan:
    """`formats`: what this model takes. Default: those of the profile."""
    if wanted.kind is TEXT:
        return NO_FORMAT
    enforced = profile.formats if formats is None else formats
    if with_tools and not profile.format_with_tools:
        enforced = ()
    by_evidence = with_tools and profile.format_by_evidence
    if wanted.kind is FormatKind.JSON_SCHEMA and "json_schema" in enforced:
        result = for_backend.rewritten_answer(wanted.schema or {}, profile.schema, wanted.path, work)
        named = _named(wanted, result.schema)
        return FormatPlan(
            {"type": "json_schema", "json_schema": named}, None, result.relaxed, unproven=by_evidence
        )
    if "json_object" not in enforced:
        return FormatPlan(None, _instruction(wanted, with_tools), unproven=True)
    response_format = {"type": "json_object"}
    if wanted.kind is FormatKind.JSON_OBJECT:
        return FormatPlan(response_format, None, unproven=by_evidence)
    return FormatPlan(response_format, _instruction(wanted, with_tools), unproven=True)


def _named(wanted: OutputFormat, reduced: Schema) -> dict[str, Any]:
    named: dict[str, Any] = {"name": wanted.name or NAMELESS, "schema": reduced}
    if wanted.description:
        named["description"] = wanted.description
    if wanted.strict is not None:
        named["strict"] = wanted.strict
    return named


def _instruction(wanted: OutputFormat, with_tools: bool) -> str:
    occasion = (
        "When you give your final answer instead of calling a tool, it" if with_tools else "Your answer"
    )
    form = f"{occasion} must be one JSON object and nothing else: no other text, no code fence."
    if wanted.kind is FormatKind.JSON_OBJECT:
        return form
    return f"{form} It must be valid against this JSON Schema:\n{jsontext.compact(wanted.schema or {})}"
