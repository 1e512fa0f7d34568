"""The first questions, on which all others rest: is there an answer, how is its length limited, are tokens counted?"""

from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

from proxy.core.backends import wires
from proxy.core.errors import NO_PATH
from proxy.core.examination import material, readers
from proxy.core.examination.aspects import CHAT, OPENAI, RESPONSES, Aspect
from proxy.core.examination.courses import Ladder, Step
from proxy.core.examination.findings import Answer, ReportRow, Standing, Verdict
from proxy.core.examination.heard import Heard
from proxy.core.examination.material import SHORT, ask
from proxy.core.examination.question import Case, Course, Question
from proxy.core.profile import AskUsage, Auth, LengthField

ENOUGH_TOKENS = 4096
"""A limit for replies, where the backend's own is too small to work with."""

NEEDS_ANOTHER = "The rest was not asked: without text nothing else can be examined."

OK, NOT_FOUND = 200, 404
KEY_REFUSED = "upstream_auth"


def text(case: Case, name: str) -> Course:
    """The plainest request. Where the key is refused, it may have been sent in the wrong header; where there is no such
    endpoint, the backend may speak Responses alone."""
    question = Question(name, ask(material.SKY, limit=None), readers.speaks, {"usage": "never"})
    answer = yield question
    if answer.heard.fault is not None and answer.heard.fault.code == KEY_REFUSED:
        for form in get_args(Auth):
            other = yield replace(question, fields={**question.fields, "auth": form})
            if other.works:
                case.usual_seconds = other.heard.seconds
                seen = f"works with the key as {form}"
                return ReportRow(name, seen, case.assumed.auth, Standing.WORSE, {"auth": form})
    if _speaks_another(case, answer.heard):
        other = yield replace(question, fields={**question.fields, "wire": wires.RESPONSES})
        if other.works:
            case.usual_seconds = other.heard.seconds
            return ReportRow(
                name, "works, by Responses only", "Chat", Standing.WORSE, {"wire": wires.RESPONSES}
            )
    if answer.verdict is Verdict.UNCLEAR and answer.heard.status == OK:  # models may fall silent
        answer = yield question
    if answer.heard.status != OK or answer.fails:
        return ReportRow(name, answer.words, "works", Standing.WORSE, remark=NEEDS_ANOTHER)
    case.usual_seconds = answer.heard.seconds
    if not answer.works:
        return ReportRow(name, answer.words, "works", Standing.UNKNOWN)
    return ReportRow(name, f"works, begun after {answer.heard.seconds:.1f} s", "works", Standing.SAME)


def _speaks_another(case: Case, heard: Heard) -> bool:
    """Where the path is there, it is the model that is not found."""
    if heard.fault is None or wires.other(case.assumed, case.assumed) is None:
        return False
    no_endpoint = heard.status in wires.NO_SUCH_ENDPOINT - {NOT_FOUND} or heard.fault.code == NO_PATH
    return no_endpoint or heard.lesson == wires.WIRE


def length_field(case: Case, name: str) -> Course:
    steps = [
        Step(
            word,
            [
                Question(
                    name,
                    ask(material.COUNTING, limit=SHORT),
                    readers.is_limited(SHORT),
                    {"length_field": word},
                )
            ],
        )
        for word in get_args(LengthField)
    ]
    return Ladder("length_field", steps, alike=True).course(case, name)


def length_least(case: Case, name: str) -> Course:
    """OpenAI refuses limits below 16, and servers that came later took the number over."""

    def put(least: int, limit: int) -> Step:
        request = ask(material.SKY, limit=limit)
        return Step(least, [Question(name, request, readers.accepted, {"length_least": least})])

    steps = [put(0, 1), put(SHORT, SHORT)]
    return Ladder("length_least", steps, plainest=True, words={0: "any"}).course(case, name)


def length_default(case: Case, name: str) -> Course:
    """Without a limit of ours, some servers cut every answer after a hundred tokens."""
    if case.assumed.length_default is not None:
        return None
    answer = yield Question(name, ask(material.COUNTING, limit=None), readers.is_not_limited)
    if answer.verdict is Verdict.IGNORED:
        return ReportRow(
            name,
            answer.words,
            "answers are not cut",
            Standing.WORSE,
            {"length_default": ENOUGH_TOKENS},
        )
    standing = Standing.SAME if answer.works else Standing.UNKNOWN
    return ReportRow(
        name, "answers are not cut" if answer.works else answer.words, "answers are not cut", standing
    )


def usage(case: Case, name: str) -> Course:
    """Asked for or unasked, in streams or only with whole answers. By Responses nobody asks for them.
    No limit is set: its name may be wrong."""
    assumed = case.assumed.usage
    answers: dict[str, Answer] = {}
    words = get_args(AskUsage) if case.dialect == wires.CHAT else (assumed,)
    for word in sorted(words, key=lambda word: word != assumed):
        answers[word] = answer = yield Question(
            name,
            ask(material.SKY, limit=None),
            readers.brings_usage,
            {"usage": word, "usage_when_whole": False},
        )
        if answer.works:
            case.baseline = answer.heard.input_tokens
            same = word == assumed
            overrides = {} if same else {"usage": word}
            standing = Standing.SAME if same else Standing.WORSE
            if case.dialect != wires.CHAT:
                return ReportRow(name, "in streams", "in streams", Standing.SAME)
            return ReportRow(name, f"in streams ({_asked(word)})", _asked(assumed), standing, overrides)
    whole = yield Question(
        name,
        ask(material.SKY, limit=None, stream=False),
        readers.brings_usage,
        {"usage": "ask", "usage_when_whole": True},
    )
    failed = answers[assumed].fails
    overrides = {"usage": "never"} if _refuses_the_wish(answers) and assumed != "never" else {}
    if whole.works:
        overrides["usage_when_whole"] = True
        if case.assumed.usage_when_whole:
            return ReportRow(name, "only with whole answers", "only with whole answers", Standing.SAME)
    seen = "only with whole answers" if whole.works else f"none ({answers[assumed].words})"
    standing = Standing.WORSE if failed else Standing.UNKNOWN
    return ReportRow(name, seen, _asked(assumed), standing, overrides if failed else {})


def _refuses_the_wish(answers: Mapping[str, Answer]) -> bool:
    return "ask" in answers and answers["ask"].verdict is Verdict.REFUSED


def _asked(word: str) -> str:
    return "asked for" if word == "ask" else "unasked"


ASPECTS = (
    Aspect("text", text, 3 + len(get_args(Auth))),
    Aspect("token counts", usage, 3, OPENAI),
    Aspect("limit of answers", length_field, 2, CHAT),
    Aspect("smallest limit", length_least, 2, RESPONSES),
    Aspect("answers without a limit", length_default, 1, OPENAI),
)
