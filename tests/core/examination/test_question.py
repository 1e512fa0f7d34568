import pytest

from proxy.core.errors import (
    BackendFault,
    ClientFault,
    Empty,
    Fault,
    Forbidden,
    NotFound,
    OutOfQuota,
    RateLimited,
    Truncated,
    Unauthorized,
)
from proxy.core.examination import readers
from proxy.core.examination.findings import Answer, Verdict
from proxy.core.examination.heard import Heard
from proxy.core.examination.material import SKY, ask
from proxy.core.examination.question import Case, Question, answer_to, is_crash, is_refusal
from proxy.core.examination.spelling import Spelling
from proxy.core.model import ChoiceMode
from proxy.core.profile import DEFAULT

QUESTION = Question("x", ask(SKY), readers.accepted)


def crashed() -> Fault:
    fault = BackendFault("Oh no.")
    fault.seen = "500"
    return fault


def verdict(fault: Fault | None, question: Question = QUESTION, **heard: object) -> Verdict:
    return answer_to(question, Heard(500, fault, **heard)).verdict  # type: ignore[arg-type]


@pytest.mark.parametrize("fault", [ClientFault("No."), NotFound("No."), crashed()])
def test_refusals(fault: Fault) -> None:
    assert is_refusal(fault)
    assert verdict(fault) is Verdict.REFUSED


@pytest.mark.parametrize(
    "fault",
    [
        Unauthorized("?"),
        Forbidden("?"),
        RateLimited("?"),
        OutOfQuota("?"),
        Truncated("?"),
        BackendFault("?"),
        ClientFault("?", code="context_length_exceeded"),
    ],
)
def test_failures_that_say_nothing_of_the_question(fault: Fault) -> None:
    assert verdict(fault) is Verdict.UNCLEAR


def test_an_empty_reply_is_a_reply() -> None:
    assert verdict(Empty("?")) is Verdict.WORKS
    assert not is_crash(None)


def test_words_of_refusals() -> None:
    said = answer_to(QUESTION, Heard(422, ClientFault("Not so."), lesson="usage"))
    assert (said.words, said.remark) == (
        "HTTP 422: Not so.",
        "The proxy learns this from the refusal (usage).",
    )
    within = answer_to(QUESTION, Heard(200, ClientFault("does not support tools")))
    assert within.words == "does not support tools"
    assert within.remark == "this model cannot call tools; choose one that can"


def test_what_is_ignored_the_proxy_may_learn_from_replies() -> None:
    """If it is what the question is about."""
    ignored = Question(
        "x", ask(SKY), lambda heard: Answer(Verdict.IGNORED, "no call", heard), {"format_with_tools": True}
    )
    taught = Heard(200, taught={"format_with_tools", "usage_when_whole"})
    assert answer_to(ignored, taught).remark == "The proxy learns this from replies (format_with_tools)."
    assert answer_to(ignored, Heard(200, taught={"usage_when_whole"})).remark == ""
    well = Question("x", ask(SKY), readers.accepted, {"format_with_tools": True})
    assert answer_to(well, taught).remark == ""


def test_a_question_may_be_about_the_refusal() -> None:
    asked = Question("x", ask(SKY), readers.accepted, refusal=lambda heard: Answer(Verdict.WORKS, "as told"))
    assert answer_to(asked, Heard(404, NotFound("No."))).words == "as told"
    assert verdict(Truncated("?"), asked) is Verdict.UNCLEAR


def test_a_path_that_counts_nothing() -> None:
    counting = Question("x", ask(SKY), readers.counts, counter="vllm")
    assert verdict(BackendFault("?", code="upstream_not_found"), counting) is Verdict.REFUSED
    assert verdict(Truncated("?"), counting) is Verdict.UNCLEAR


def test_what_is_known_grows() -> None:
    case = Case(DEFAULT, DEFAULT)
    assert case.choice.mode is ChoiceMode.AUTO
    case.must_force = True
    assert case.choice.mode is ChoiceMode.REQUIRED
    case.note(
        Heard(thoughts="Hm.", closer="</think>", leaked=["hermes"], spelling=Spelling(other_choices=True))
    )
    case.note(Heard())
    assert (case.thinks, case.closer, case.leaked) == (True, "</think>", {"hermes"})
    assert case.profile.calls_in_other_choices
    assert case.assumed is DEFAULT
