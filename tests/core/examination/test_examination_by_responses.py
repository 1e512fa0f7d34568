"""A backend that is asked by Responses: one that behaves, one for each difference, and one with all that can be
together."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from proxy.core.backends.model_rules import profile_of
from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.target import Target
from proxy.core.examination import basics, limits, messages, report, thinking
from proxy.core.examination.examination import Examination
from proxy.core.examination.findings import ReportRow, Standing
from proxy.core.examination.heard import Heard, Received
from proxy.core.model import Usage
from proxy.core.profile import BackendProfile, overridden
from proxy.settings.toml_text import toml_table
from tests.scripted.responses import MODEL
from tests.support.courses import N, R, U, W, case_of, found, refused, walked
from tests.support.minds import Mind, gpt

Json = dict[str, Any]
USUAL = (Standing.SAME, Standing.FACT, Standing.UNKNOWN)


def profile(**fields: Any) -> BackendProfile:
    by_responses = replace(PROFILES["openai"], wire="responses", counter="openai")
    return replace(profile_of(Target("b", "", by_responses), MODEL), **fields)


def examined(mind: Mind, assumed: BackendProfile | None = None) -> Examination:
    target = Target("b", "https://api.openai.com/v1", assumed or profile(), key="k")
    examination = Examination(target, MODEL)
    while (asked := examination.next()) is not None:
        examination.take(asked, mind(asked.preparation.post))
    return examination


def told_of(examination: Examination) -> dict[str, ReportRow]:
    return {row.name: row for row in examination.rows if row.standing not in USUAL}


def test_one_that_behaves_is_as_assumed() -> None:
    examination = examined(gpt())
    assert told_of(examination) == {}
    assert dict(examination.overrides) == {}
    assert len(examination.rows) > 30
    unknown = [row.name for row in examination.rows if row.standing is Standing.UNKNOWN]
    assert unknown == ["conversation too long"]
    assert examination.asked <= examination.most_questions


# ── what is planted ──


def contents(body: Json) -> list[Json]:
    """All parts of messages and results."""
    held = [item.get("content") or item.get("output") for item in body["input"]]
    return [part for content in held if isinstance(content, list) for part in content]


def results(body: Json) -> list[Json]:
    return [item for item in body["input"] if item["type"] == "function_call_output"]


def schema_form(body: Json) -> str:
    return str(body.get("text", {}).get("format", {}).get("type", ""))


def effort(body: Json) -> str:
    return str(body.get("reasoning", {}).get("effort", ""))


def without(name: str) -> Callable[[Json], None]:
    def change(body: Json) -> None:
        body.pop(name, None)

    return change


def without_media(body: Json) -> None:
    for item in results(body):
        if isinstance(item["output"], list):
            item["output"] = item["output"][0]["text"]


def one_call_in_vain(body: Json) -> None:
    body.pop("parallel_tool_calls", None)


def short_without_a_limit(body: Json) -> None:
    body.setdefault("max_output_tokens", 4)


def form_wins(body: Json) -> None:
    if "text" in body:
        body.pop("tools", None)


def nothing(body: Json) -> None:
    """Hears all of a request."""


def never(body: Json) -> bool:
    return False


@dataclass(frozen=True)
class Case:
    row: str
    overrides: Mapping[str, Any]
    refuses: Callable[[Json], Any] = never
    changed: Callable[[Json], None] = nothing
    assumed: Mapping[str, Any] = field(default_factory=dict)
    alone: bool = False
    """Does it hide, or change, what others show?"""


CASES: Mapping[str, Case] = {
    "a smallest limit": Case(
        "smallest limit",
        {"length_least": 16},
        lambda body: body.get("max_output_tokens", 16) < 16,
        assumed={"length_least": 0},
    ),
    "short without a limit": Case(
        "answers without a limit", {"length_default": 4096}, changed=short_without_a_limit, alone=True
    ),
    "late instructions": Case(
        "late instructions",
        {"late_system": "user"},
        lambda body: any(item.get("role") == "developer" for item in body["input"]),
    ),
    "neighbours": Case(
        "neighbouring user messages",
        {"join_users": True},
        lambda body: len(body["input"]) == 2 and "Hello." in str(body["input"][0]),
        assumed={"join_users": False},
    ),
    "no images": Case(
        "images",
        {"images": "none"},
        lambda body: any(part["type"] == "input_image" for part in contents(body)) and not results(body),
        alone=True,
    ),
    "no files": Case(
        "files", {"files": False}, lambda body: any(part["type"] == "input_file" for part in contents(body))
    ),
    "no names of tools": Case(
        "forced calls", {"force_tool": "required"}, lambda body: isinstance(body.get("tool_choice"), dict)
    ),
    "one call in vain": Case("one call at a time", {"parallel": "omit"}, changed=one_call_in_vain),
    "no strict": Case(
        "strict tools",
        {"strict_tools": False},
        lambda body: any(tool["strict"] for tool in body.get("tools", ())),
    ),
    "letters first": Case(
        "names of tools", {"tool_names": "letter_first"}, lambda body: "7_days" in str(body)
    ),
    "few tools": Case("number of tools", {"max_tools": 32}, lambda body: len(body.get("tools", ())) > 40),
    "no references": Case(
        "schemas of tools",
        {"schema": frozenset({"plain", "inline"})},
        lambda body: "$ref" in str(body.get("tools")),
    ),
    "short ids": Case(
        "call ids",
        {"call_id": "alnum9"},
        lambda body: any(len(item["call_id"]) != 9 for item in results(body)),
    ),
    "calls need tools": Case(
        "calls without tools",
        {"orphan_tools": "declare"},
        lambda body: results(body) and "tools" not in body,
    ),
    "no media in results": Case(
        "media in results",
        {"media_results": False},
        lambda body: any(isinstance(item["output"], list) for item in results(body)),
    ),
    "media in vain": Case("media in results", {"media_results": False}, changed=without_media, alone=True),
    "no schema for answers": Case(
        "structured output",
        {"formats": frozenset({"json_object"})},
        lambda body: schema_form(body) == "json_schema",
        alone=True,
    ),
    "form instead of calls": Case(
        "structured output beside tools", {"format_with_tools": False}, changed=form_wins
    ),
    "no effort": Case(
        "reasoning effort", {"effort_field": "none"}, lambda body: "reasoning" in body, alone=True
    ),
    "few efforts": Case(
        "words for effort",
        {"effort_map": {"minimal": "none", "xhigh": "high", "max": "high"}},
        lambda body: effort(body) in ("minimal", "xhigh"),
        assumed={"effort_map": {"max": "xhigh"}},
    ),
    "no summaries": Case(
        "summaries", {"summaries": False}, lambda body: "summary" in body.get("reasoning", {})
    ),
    "no thoughts taken back": Case(
        "sealed thoughts",
        {"sealed_thoughts": False},
        lambda body: any(item["type"] == "reasoning" for item in body["input"]),
        alone=True,  # the scripted API refuses whoever does not ask for them
    ),
    "no temperature": Case(
        "options", {"tuning": profile().tuning - {"temperature"}}, lambda body: "temperature" in body
    ),
    "another counter": Case("counter of tokens", {"counter": "openai"}, assumed={"counter": "vllm"}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_difference_is_found_and_mended(name: str) -> None:
    case = CASES[name]
    assumed = profile(**case.assumed)
    mind = gpt(case.refuses, case.changed)
    before = examined(mind, assumed)
    assert dict(told_of(before)[case.row].overrides) == case.overrides
    if name != "no thoughts taken back":
        assert told_of(examined(mind, _mended(assumed, before))) == {}


def _mended(assumed: BackendProfile, examination: Examination) -> BackendProfile:
    """With what is written, read back as files are."""
    values = {name: report.plain(value) for name, value in examination.overrides.items()}
    return overridden(assumed, tomllib.loads("\n".join(toml_table(["found"], values)))["found"])


def test_many_differences_at_once() -> None:
    """No difference hides another: each is found in a backend that has them all."""
    together = {name: case for name, case in CASES.items() if not case.alone}
    assert len(together) > 15

    def changed(body: Json) -> None:
        for case in together.values():
            case.changed(body)

    def refuses(body: Json) -> bool:
        return any(case.refuses(body) for case in together.values())

    assumed = profile(**{name: value for case in together.values() for name, value in case.assumed.items()})
    told = told_of(examined(gpt(refuses, changed), assumed))
    assert set(told) == {case.row for case in together.values()}
    for name, case in together.items():
        assert dict(told[case.row].overrides) == case.overrides, name


# ── what only Responses has ──


def test_who_speaks_responses_only_is_found_out() -> None:
    """Nobody has said which of the two it is."""
    mind = gpt()

    def answer(post: Any) -> Received:
        return mind(post) if "/responses" in post.url else Received(404, {}, b"404 page not found")

    target = Target("b", "http://localhost:1/v1", replace(profile(), wire="auto", counter="none"))
    examination = Examination(target, MODEL)
    while (asked := examination.next()) is not None:
        examination.take(asked, answer(asked.preparation.post))
    told = told_of(examination)
    assert told.pop("text").overrides == {"wire": "responses"}
    assert set(told) == {"counter of tokens"}
    assert "media in results" in [row.name for row in examination.rows]
    assert examination.asked <= examination.most_questions


def test_a_model_that_is_not_there_has_no_other_language() -> None:
    answer = Received(
        404, {}, b'{"error": {"message": "The model `x` does not exist", "code": "model_not_found"}}'
    )
    examination = Examination(Target("b", "http://localhost:1/v1", PROFILES["openai"]), "x")
    while (asked := examination.next()) is not None:
        examination.take(asked, answer)
    assert examination.asked == 1


def test_neither_language() -> None:
    examination = Examination(Target("b", "http://localhost:1/v1", PROFILES["openai"]), "x")
    while (asked := examination.next()) is not None:
        examination.take(asked, Received(404, {}, b"404 page not found"))
    assert examination.asked == 2
    assert [row.standing for row in examination.rows] == [Standing.WORSE]


def of_responses(**fields: Any) -> Any:
    return case_of(wire="responses", **fields)


def test_counts_are_there_or_only_in_whole_answers() -> None:
    assert found(basics.usage(of_responses(), "x"), W).seen == "in streams"
    only = found(basics.usage(of_responses(), "x"), N, W)
    assert (only.standing, dict(only.overrides)) == (Standing.WORSE, {"usage_when_whole": True})
    assert found(basics.usage(of_responses(usage="never"), "x"), U, U).standing is Standing.UNKNOWN


def test_sealed_thoughts() -> None:
    sealed = Heard(200, text="Blue.", wanted_back=[{}])

    def told(assumed: bool, *heard: Any) -> tuple[Standing, dict[str, Any]]:
        row = found(thinking.sealed(of_responses(sealed_thoughts=assumed), "x"), *heard)
        return row.standing, dict(row.overrides)

    assert told(False, sealed, W) == (Standing.BETTER, {"sealed_thoughts": True})
    assert told(False, sealed, R) == (Standing.SAME, {})
    assert told(False, R) == (Standing.SAME, {})
    assert told(False, Heard(200, thoughts="Hm.")) == (Standing.SAME, {})
    assert told(True, sealed, R) == (Standing.WORSE, {"sealed_thoughts": False})
    assert told(True, sealed, U) == (Standing.UNKNOWN, {})
    assert told(True, R) == (Standing.WORSE, {"sealed_thoughts": False})
    assert told(True, Heard(200, text="Blue.")) == (Standing.UNKNOWN, {})


def test_summaries() -> None:
    assert walked(thinking.summaries(of_responses(), "x"), []) is None
    case = of_responses(effort_field="reasoning_effort")
    told = Heard(200, thoughts="Hm.")
    assert dict(found(thinking.summaries(case, "x"), told).overrides) == {"summaries": True}
    case.thinks = True  # unasked
    assert found(thinking.summaries(case, "x"), told).standing is Standing.SAME


def test_thoughts_as_text() -> None:
    case = of_responses()
    assert found(thinking.replay(case, "x")).standing is Standing.SAME
    case.thinks = True
    row = found(thinking.replay(case, "x"), read(50), read(90))
    assert (row.standing, dict(row.overrides)) == (Standing.BETTER, {"replay": "reasoning_content"})
    known = of_responses(replay="reasoning")
    refusing = found(thinking.replay(known, "x"), read(50), refused("No."))
    assert dict(refusing.overrides) == {"replay": "none"}


def read(tokens: int) -> Heard:
    return Heard(200, usage=Usage(tokens, 1, tokens + 1))


def test_media_without_images() -> None:
    assert walked(messages.media_results(of_responses(images="none"), "x"), []) is None


def test_options_beside_the_api() -> None:
    """Where what is unknown is taken, only what is assumed is asked for."""
    case = of_responses(tuning=["seed", "stop", "top_p"], tuning_beside_api=["seed"])
    row = found(limits.options_beside(case, "x"), R, W)
    assert dict(row.overrides) == {"tuning_beside_api": frozenset({"stop"})}
    case.ignores_unknown = True
    assert found(limits.options_beside(case, "x"), W).standing is Standing.SAME
