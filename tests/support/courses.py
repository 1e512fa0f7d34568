"""Walks through one course of questions with answers that a test gives."""

from collections.abc import Iterable
from typing import Any

from proxy.core.errors import ClientFault, Fault
from proxy.core.examination.findings import Answer, ReportRow, Verdict
from proxy.core.examination.heard import Heard
from proxy.core.examination.question import Case, Course, answer_to
from proxy.core.profile import DEFAULT, BackendProfile, overridden

W, N, R, U = Verdict.WORKS, Verdict.IGNORED, Verdict.REFUSED, Verdict.UNCLEAR
"""Works, but not: no (ignored), refused, unclear."""


def case_of(window: int | None = None, **fields: Any) -> Case:
    profile: BackendProfile = overridden(DEFAULT, fields)
    return Case(profile, profile, window)


def walked(course: Course, answers: Iterable[Verdict | Answer | Heard]) -> ReportRow | None:
    """A verdict or an answer stands as it is; what was heard is judged by the question. All of them are wanted."""
    given = list(answers)
    try:
        asked = next(course)
        while given:
            each = given.pop(0)
            if isinstance(each, Heard):
                each = answer_to(asked, each)
            elif isinstance(each, Verdict):
                each = Answer(each, "so it is", Heard(200))
            asked = course.send(each)
    except StopIteration as ended:
        assert not given, f"never asked for: {given}"
        row: ReportRow | None = ended.value
        return row
    raise AssertionError(f"no answer to: {asked}")


def found(course: Course, *answers: Verdict | Answer | Heard) -> ReportRow:
    row = walked(course, answers)
    assert row is not None
    return row


def refused(words: str, status: int = 400, **heard: Any) -> Heard:
    fault: Fault = ClientFault(words)
    return Heard(status, fault, **heard)
