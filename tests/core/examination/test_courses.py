from collections.abc import Mapping
from typing import Any

import pytest

from proxy.core.examination import readers
from proxy.core.examination.courses import Ladder, Members, Step
from proxy.core.examination.findings import Answer, ReportRow, Standing, Verdict
from proxy.core.examination.material import SKY, ask
from proxy.core.examination.question import Case, Course, Question
from proxy.core.profile import DEFAULT, overridden

W, N, R, U = Verdict.WORKS, Verdict.IGNORED, Verdict.REFUSED, Verdict.UNCLEAR
SAME, BETTER, WORSE, UNKNOWN = Standing.SAME, Standing.BETTER, Standing.WORSE, Standing.UNKNOWN


def question(name: str) -> Question:
    return Question(name, ask(SKY), readers.accepted)


def walked(course: Course, verdicts: Mapping[str, Verdict]) -> ReportRow | None:
    try:
        asked = next(course)
        while True:
            asked = course.send(Answer(verdicts[asked.name], f"{asked.name}!"))
    except StopIteration as ended:
        row: ReportRow | None = ended.value
        return row


def ladder(assumed: str, verdicts: Mapping[str, Verdict], **how: Any) -> ReportRow:
    steps = [Step(value, [question(value)]) for value in ("object", "required")] + [Step("auto")]
    profile = overridden(DEFAULT, {"force_tool": assumed})
    row = walked(Ladder("force_tool", steps, **how).course(Case(profile, profile), "x"), verdicts)
    assert row is not None
    return row


@pytest.mark.parametrize(
    ("assumed", "first", "second", "standing", "value"),
    [
        ("object", W, W, SAME, None),
        ("object", R, W, WORSE, "required"),
        ("object", N, N, WORSE, "auto"),
        ("object", U, W, UNKNOWN, None),
        ("required", W, W, BETTER, "object"),
        ("required", R, W, SAME, None),
        ("required", U, U, UNKNOWN, None),
        ("auto", R, N, SAME, None),
        ("any", R, R, BETTER, "auto"),
    ],
)
def test_down_a_ladder(
    assumed: str, first: Verdict, second: Verdict, standing: Standing, value: str | None
) -> None:
    row = ladder(assumed, {"object": first, "required": second})
    assert row.standing is standing
    assert dict(row.overrides) == ({} if value is None else {"force_tool": value})


def test_a_ladder_without_a_last_resort() -> None:
    steps = [Step("max_tokens", [question("a")]), Step("max_completion_tokens", [question("b")])]

    def row(verdict: Verdict, **how: Any) -> ReportRow | None:
        made = Ladder("length_field", steps, alike=True, **how).course(Case(DEFAULT, DEFAULT), "x")
        return walked(made, {"a": verdict, "b": R})

    assert row(R) == ReportRow(
        "x", "max_tokens: refused (a!); max_completion_tokens: refused", "max_tokens", WORSE
    )
    plainest = row(R, plainest=True)
    unclear = row(U)
    assert plainest is not None
    assert plainest.standing is UNKNOWN
    assert unclear is not None
    assert unclear.standing is UNKNOWN


def test_the_assumed_value_is_asked_first_where_all_are_alike() -> None:
    row = ladder("required", {"required": W}, alike=True)
    assert (row.standing, row.seen) == (SAME, "required: works (required!)")


def test_a_step_stands_all_its_questions() -> None:
    steps = [Step(True, [question("a"), question("b")]), Step(False)]
    row = walked(Ladder("strict_tools", steps).course(Case(DEFAULT, DEFAULT), "x"), {"a": W, "b": N})
    assert row == ReportRow("x", "yes: ignored (b!)", "no", SAME)


def members(verdicts: Mapping[str, Verdict], *, ignored_is_well: bool = False) -> ReportRow | None:
    found = Members("formats", lambda case: {name: question(name) for name in verdicts}, ignored_is_well)
    return walked(found.course(Case(DEFAULT, DEFAULT), "x"), verdicts)


def test_members() -> None:
    assert members({}) is None
    refused = members({"json_schema": R, "json_object": W})
    assert refused is not None
    assert (refused.standing, refused.seen) == (
        WORSE,
        "json_schema: refused (json_schema!); json_object: works",
    )
    assert dict(refused.overrides) == {"formats": frozenset({"json_object"})}
    more = members({"json_object": W, "xml": W})
    assert more is not None
    assert more.standing is BETTER
    ignored = members({"json_schema": N})
    assert ignored is not None
    assert ignored.standing is WORSE
    harmless = members({"json_schema": N}, ignored_is_well=True)
    assert harmless is not None
    assert harmless.standing is SAME
    unclear = members({"json_schema": U})
    assert unclear is not None
    assert unclear.standing is UNKNOWN
