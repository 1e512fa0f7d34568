"""The same examination in the other languages: nothing in it is Chat's alone but what says so."""

from collections.abc import Callable
from typing import Any

import pytest

from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.target import Target
from proxy.core.examination.examination import Examination
from proxy.core.examination.findings import Standing
from tests.support.minds import Mind, claude, gemini

Unlearned = Callable[[dict[str, Any]], bool]


def examined(mind: Mind, dialect: str, model: str) -> Examination:
    url = {"anthropic": "https://api.anthropic.com", "google": "https://generativelanguage.googleapis.com"}
    examination = Examination(Target("b", url[dialect], PROFILES[dialect], key="k"), model)
    while (asked := examination.next()) is not None:
        examination.take(asked, mind(asked.preparation.post))
    return examination


def findings(examination: Examination) -> dict[str, dict[str, Any]]:
    usual = (Standing.SAME, Standing.FACT, Standing.UNKNOWN)
    return {row.name: dict(row.overrides) for row in examination.rows if row.standing not in usual}


@pytest.mark.parametrize("model", ["claude-opus-5", "claude-sonnet-4-6", "claude-opus-5-5"])
def test_a_claude_that_behaves(model: str) -> None:
    examination = examined(claude(), "anthropic", model)
    assert findings(examination) == {}
    assert len(examination.rows) > 12
    unknown = {row.name for row in examination.rows if row.standing is Standing.UNKNOWN}
    assert unknown <= {"conversation too long", "forced calls"}  # the newest cannot be forced


def test_a_gemini_that_behaves() -> None:
    examination = examined(gemini(), "google", "gemini-3.5-flash")
    assert findings(examination) == {}
    assert len(examination.rows) > 12


CLAUDES: list[tuple[Unlearned, str, dict[str, Any]]] = [
    (lambda body: "tool" in str(body.get("tool_choice")), "forced calls", {"force_tool": "auto"}),
    (lambda body: "output_config" in body, "structured output", {"formats": frozenset()}),
    (lambda body: "disable_parallel" in str(body), "one call at a time", {"parallel": "omit"}),
    (lambda body: "tools" in body, "tools", {"max_tools": 0}),
    (lambda body: "7_days" in str(body), "names of tools", {"tool_names": "letter_first"}),
]


@pytest.mark.parametrize("unlearned", CLAUDES)
def test_a_claude_that_differs(unlearned: tuple[Unlearned, str, dict[str, Any]]) -> None:
    wrong, row, overrides = unlearned
    assert findings(examined(claude(wrong), "anthropic", "claude-opus-4-8"))[row] == overrides


GEMINIS: list[tuple[Unlearned, str, dict[str, Any]]] = [
    (lambda body: "image/png" in str(body), "images", {"images": "none"}),
    (lambda body: "audio/wav" in str(body), "sound", {"audio": False}),
    (lambda body: "ANY" in str(body), "forced calls", {"force_tool": "auto"}),
]


@pytest.mark.parametrize("unlearned", GEMINIS)
def test_a_gemini_that_differs(unlearned: tuple[Unlearned, str, dict[str, Any]]) -> None:
    wrong, row, overrides = unlearned
    assert findings(examined(gemini(wrong), "google", "gemini-3.5-flash"))[row] == overrides
