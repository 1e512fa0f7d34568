"""The whole examination of scripted backends: one that behaves, and one for each difference."""

import tomllib
from dataclasses import replace
from typing import Any

import pytest

from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.target import Target
from proxy.core.errors import OwnWords, Unreachable
from proxy.core.examination import material, question, readers, report
from proxy.core.examination.aspects import Aspect
from proxy.core.examination.examination import IMPOSSIBLE, SPENT, Examination
from proxy.core.examination.findings import ReportRow, Standing
from proxy.core.examination.heard import Received
from proxy.core.profile import BackendProfile, overridden
from proxy.settings.toml_text import toml_table
from tests.support.differences import CASES, Case
from tests.support.planted import Planted, refuses, tools

URL = "http://localhost:1/v1"
OPENAI = PROFILES["openai"]


def examined(
    planted: Planted,
    profile: BackendProfile = OPENAI,
    model: str = "demo",
    window: int | None = None,
    **bounds: Any,
) -> Examination:
    examination = Examination(Target("b", URL, profile, key="sk-1"), model, window=window, **bounds)
    while (asked := examination.next()) is not None:
        received = planted(asked.preparation.post)
        if asked.question.leave:
            received = replace(received, body=received.body[:400], whole=False)
        examination.take(asked, received)
    return examination


def row_of(examination: Examination, name: str) -> ReportRow:
    return next(row for row in examination.rows if row.name == name)


def told_of(examination: Examination) -> dict[str, Standing]:
    usual = (Standing.SAME, Standing.FACT, Standing.UNKNOWN)
    return {row.name: row.standing for row in examination.rows if row.standing not in usual}


def test_a_backend_that_behaves_is_as_assumed() -> None:
    examination = examined(Planted())
    assert told_of(examination) == {}
    assert dict(examination.overrides) == {}
    assert not examination.is_worse
    unknown = [row.name for row in examination.rows if row.standing is Standing.UNKNOWN]
    assert unknown == ["conversation too long"]


@pytest.mark.parametrize("name", CASES)
def test_a_difference_is_found_and_mended(name: str) -> None:
    """What is written is read back as files are; with it, the same backend is as assumed."""
    case = CASES[name]
    planted = Planted([case.difference])
    before = examined(planted, _assumed(case), case.model, case.window)
    row = row_of(before, case.row)
    assert row.standing == case.standing, row
    assert dict(row.overrides) == dict(case.overrides)
    values = {name: report.plain(value) for name, value in before.overrides.items()}
    overrides = tomllib.loads("\n".join(toml_table(["overrides"], values)))["overrides"]
    profile = overridden(_assumed(case), overrides)
    if not case.remains:
        after = examined(planted, profile, case.model, case.window)
        assert told_of(after) == {}


def _assumed(case: Case) -> BackendProfile:
    return replace(OPENAI, **case.assumed)


TOGETHER = (
    "no limit by this name",
    "no wish for counts",
    "no developer",
    "instructions first",
    "no addresses",
    "no files",
    "no sound",
    "no names of tools",
    "parallel in vain",
    "no strict",
    "letters first",
    "few tools",
    "no references",
    "no user after a tool",
    "nine letters",
    "calls need tools",
    "no form of any object",
    "few efforts",
    "no seed",
    "crashes",
    "ids that change",
)


def test_many_differences_at_once() -> None:
    """No difference hides another."""
    cases = [CASES[name] for name in TOGETHER]
    told = told_of(examined(Planted([case.difference for case in cases])))
    assert set(told) == {case.row for case in cases}
    assert all(told[case.row] == case.standing for case in cases)


def test_it_stays_within_its_bounds() -> None:
    planted = Planted()
    examination = examined(planted)
    counted = 3  # which have paths of their own
    assert examination.asked == len(planted.asked) + counted < examination.most_questions
    assert examination.tokens < examination.most_tokens


def test_spent_tokens_leave_the_rest_unasked() -> None:
    examination = examined(Planted(), tokens=4000)
    assert examination.tokens <= 4000
    assert any(SPENT in row.seen for row in examination.rows)
    assert not examination.is_worse


def test_without_text_nothing_else_is_asked() -> None:
    planted = Planted([refuses(lambda body: True, "The model does not exist", 404)])
    examination = examined(planted)
    assert [row.name for row in examination.rows] == ["text"]
    assert examination.is_worse
    assert len(planted.asked) == 1


def test_a_key_in_another_header() -> None:
    def answer(examination: Examination) -> Received:
        asked = examination.next()
        assert asked is not None
        if "Api-Key" in asked.preparation.post.headers:
            return Planted()(asked.preparation.post)
        return Received(401, {}, b'{"error": {"message": "Who are you?"}}')

    examination = Examination(Target("b", URL, OPENAI, key="sk-1"), "demo")
    while (asked := examination.next()) is not None and not examination.rows:
        examination.take(asked, answer(examination))
    assert dict(examination.rows[0].overrides) == {"auth": "api-key"}


def test_a_key_that_nobody_takes() -> None:
    examination = Examination(Target("b", URL, OPENAI, key="sk-1"), "demo")
    while (asked := examination.next()) is not None:
        examination.take(asked, Received(401, {}, b"{}"))
    assert [row.standing for row in examination.rows] == [Standing.WORSE]


def test_failures_prove_nothing() -> None:
    """The first answer is well, then the network fails."""
    planted = Planted()
    examination = Examination(Target("b", URL, OPENAI), "demo")
    while (asked := examination.next()) is not None:
        if examination.asked:
            examination.take(asked, Unreachable(OwnWords("The backend cannot be connected to.")))
        else:
            examination.take(asked, planted(asked.preparation.post))
    assert told_of(examination) == {}
    assert dict(examination.overrides) == {}


@pytest.mark.parametrize("profile", [name for name, each in PROFILES.items() if each.dialect == "chat"])
def test_no_profile_asks_what_cannot_be_asked(profile: str) -> None:
    examination = examined(Planted([refuses(tools)]), PROFILES[profile])
    assert examination.asked <= examination.most_questions
    assert examination.rows
    assert examination.doing == examination.rows[-1].name
    assert examination.model == "demo"


def test_what_the_profile_forbids_is_not_asked() -> None:
    def course(case: question.Case, name: str) -> question.Course:
        sound = material.ask(material.user(material.audio()))
        answer = yield question.Question(name, sound, readers.accepted)
        return ReportRow(name, answer.words)

    target = Target("b", URL, replace(OPENAI, audio=False))
    examination = Examination(target, "m", aspects=[Aspect("sound", course, 1)])
    assert examination.next() is None
    assert examination.rows == [ReportRow("sound", IMPOSSIBLE)]
