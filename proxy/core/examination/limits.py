"""What a backend leaves out, counts, refuses and says: options, counters, errors, and the end of its window."""

from collections.abc import Mapping, Set
from dataclasses import replace
from functools import partial
from typing import Any

from proxy.core.dialects.registry import DIALECTS, spoken_by
from proxy.core.dialects.responses.encode import ALWAYS
from proxy.core.errors import Fault, NotFound, Overloaded, RateLimited
from proxy.core.examination import material, readers
from proxy.core.examination.aspects import OPENAI, RESPONSES, Aspect
from proxy.core.examination.courses import Ladder, Members, Step
from proxy.core.examination.findings import Answer, ReportRow, Standing, Verdict
from proxy.core.examination.heard import Heard
from proxy.core.examination.material import SHORT, ask
from proxy.core.examination.question import OVERFLOWED, Case, Course, Question, is_crash
from proxy.core.model import Request, Sampling
from proxy.core.profile import TUNING

OPTIONS: Mapping[str, Any] = {
    "temperature": 0.7,
    "top_p": 0.9,
    "presence_penalty": 0.1,
    "frequency_penalty": 0.1,
    "seed": 7,
}
STOP = "7"
UNKNOWN_FIELD = "x_no_such_field"
NO_SUCH_MODEL = "no-such-model-for-sure"

AFFORDABLE = 33_000
"""Tokens. A larger window is not filled for the sake of a question."""

SLOW_SECONDS = 2.0
"""A request waited so much longer than usual: its place was taken."""


def _options(case: Case) -> Mapping[str, Question]:
    """One request for each, because a refusal of several tells of one only."""
    questions = {
        name: _option(name, replace(Sampling(max_tokens=SHORT), **{name: value}))
        for name, value in OPTIONS.items()
    }
    counting = ask(material.COUNTING, limit=SHORT, sampling=Sampling(max_tokens=64, stop=[STOP]))
    questions["stop"] = Question("stop", counting, readers.stops_at(STOP), _known({"stop"}))
    chances = Sampling(max_tokens=SHORT, logprobs=True, top_logprobs=1)
    both = {"logprobs", "top_logprobs"}
    if case.dialect in OPENAI:
        questions["logprobs"] = Question(
            "logprobs", ask(material.SKY, sampling=chances), readers.brings_logprobs, _known(both)
        )
        questions["verbosity"] = Question(
            "verbosity",
            ask(material.SKY, limit=SHORT, verbosity="low"),
            readers.accepted,
            _known({"verbosity"}),
        )
    return questions


def _worth_asking(case: Case, known: Set[str]) -> Mapping[str, Question]:
    """Where what is unknown is taken, or the API has no word for it, only what is assumed can be wrong."""
    questions = _options(case)
    if case.dialect in OPENAI and not case.ignores_unknown:
        return questions
    return {name: question for name, question in questions.items() if name in known}


def _in_the_api(case: Case) -> Mapping[str, Question]:
    questions = _worth_asking(case, case.profile.tuning)
    if case.dialect not in RESPONSES:
        return questions
    return {name: question for name, question in questions.items() if name in ALWAYS}


def _beside_the_api(case: Case) -> Mapping[str, Question]:
    """What only some servers take by Responses, of what they take at all."""
    questions = _worth_asking(case, case.profile.tuning_beside_api)
    beside = case.profile.tuning - ALWAYS
    return {name: question for name, question in questions.items() if name in beside}


def _option(name: str, sampling: Sampling) -> Question:
    return Question(name, ask(material.SKY, sampling=sampling), readers.accepted, _known({name}))


def _known(names: set[str]) -> dict[str, Any]:
    return {"tuning": frozenset(names), "tuning_beside_api": frozenset(names)}


def options(case: Case, name: str) -> Course:
    row = yield from Members("tuning", _in_the_api, ignored_is_well=True).course(case, name)
    tuning = row.overrides.get("tuning") if row else None
    if row is None or tuning is None:
        return row
    tuning = tuning | {"top_logprobs"} if "logprobs" in tuning else tuning - {"top_logprobs"}
    return replace(row, overrides={"tuning": tuning})


def options_beside(case: Case, name: str) -> Course:
    return Members("tuning_beside_api", _beside_the_api, ignored_is_well=True).course(case, name)


def unknown_field(case: Case, name: str) -> Course:
    extra = {**case.profile.extra, UNKNOWN_FIELD: True}
    answer = yield Question(name, ask(material.SKY, limit=SHORT), readers.accepted, {"extra": extra})
    case.ignores_unknown = answer.works
    said = {Verdict.WORKS: "taken and not looked at", Verdict.REFUSED: f"refused ({answer.words})"}
    return ReportRow(name, said.get(answer.verdict, answer.words), remark="The proxy sends none.")


def counter(case: Case, name: str) -> Course:
    """Whose form has its counter of tokens?"""
    forms = dict.fromkeys((*spoken_by(case.assumed).counters, *DIALECTS[case.dialect]().counters))
    steps = [
        Step(form, [Question(name, ask(material.SKY), readers.counts, {"counter": form}, counter=form)])
        for form in forms
    ]
    return Ladder("counter", [*steps, Step("none")]).course(case, name)


def unknown_model(case: Case, name: str) -> Course:
    def read(heard: Heard) -> Answer:
        return readers.ignored(heard, "answered all the same")

    def refused(heard: Heard) -> Answer:
        if isinstance(heard.fault, NotFound):
            return readers.works(heard, f"refused with {heard.status}")
        return readers.ignored(
            heard, f"refused with {heard.status}, which clients cannot tell from other errors"
        )

    question = Question(name, ask(material.SKY, limit=SHORT), read, model=NO_SUCH_MODEL, refusal=refused)
    answer = yield question
    standing = Standing.UNKNOWN if answer.verdict is Verdict.UNCLEAR else Standing.FACT
    return ReportRow(name, answer.words, "", standing)


def bad_request(case: Case, name: str) -> Course:
    """A mistake of a client must not look like a crash: the proxy would repeat it, and spare the backend."""

    def refused(heard: Heard) -> Answer:
        if is_crash(heard.fault):
            return readers.ignored(heard, f"fails with {heard.status}")
        return readers.works(heard, f"refused with {heard.status}")

    nonsense = {"extra": {**case.profile.extra, **_NONSENSE.get(case.dialect, {})}}
    answer = yield Question(
        name, ask(material.SKY, limit=SHORT), partial(readers.works, words="taken"), nonsense, refusal=refused
    )
    standings = {Verdict.WORKS: Standing.SAME, Verdict.IGNORED: Standing.WORSE}
    return ReportRow(name, answer.words, "refused with 4xx", standings.get(answer.verdict, Standing.UNKNOWN))


_NONSENSE: Mapping[str, Mapping[str, Any]] = {
    "chat": {"messages": "nonsense"},
    "anthropic": {"messages": "nonsense"},
    "google": {"contents": "nonsense"},
    "responses": {"input": 7},
}


def overflow(case: Case, name: str) -> Course:
    """In which words is a conversation refused that is too long, or is it cut in silence?"""
    said = "told in words that the proxy knows"
    if case.window is None:
        return ReportRow(name, "not asked: the window is not known", said, Standing.UNKNOWN)
    if case.window > AFFORDABLE:
        return ReportRow(name, f"not asked: the window has {case.window} tokens", said, Standing.UNKNOWN)

    def read(heard: Heard) -> Answer:
        return readers.ignored(heard, "answered all the same: it forgets the beginning in silence")

    def refused(heard: Heard) -> Answer:
        if isinstance(heard.fault, Fault) and heard.fault.code == OVERFLOWED:
            return readers.works(heard, said)
        return readers.ignored(heard, f"refused with {heard.status}, in words that the proxy does not know")

    long = ask("word " * (case.window + case.window // 4), limit=SHORT)
    answer = yield Question(name, long, read, refusal=refused)
    standings = {Verdict.WORKS: Standing.SAME, Verdict.IGNORED: Standing.WORSE}
    return ReportRow(name, answer.words, said, standings.get(answer.verdict, Standing.UNKNOWN))


def leaving(case: Case, name: str) -> Course:
    """Does the model go on for a client that has left? Then whoever asks next must wait, if there is one place only."""
    left = yield Question(name, ask(material.COUNTING), readers.accepted, leave=True)
    after = yield Question(name, _short(), readers.accepted)
    usual = case.usual_seconds
    busy = isinstance(after.heard.fault, Overloaded | RateLimited)
    if not left.works or usual is None or not (after.works or busy):
        return ReportRow(name, left.words or after.words, "it stops", Standing.UNKNOWN)
    waited = after.heard.seconds - usual
    if busy or waited > SLOW_SECONDS:
        said = "the next request was refused" if busy else f"the next request waited {waited:.1f} s"
        return ReportRow(name, f"it goes on: {said}", "it stops", Standing.WORSE)
    return ReportRow(name, "the next request was not delayed", "it stops", Standing.SAME)


def _short() -> Request:
    return ask(material.SKY, limit=SHORT)


ASPECTS = (
    Aspect("unknown fields", unknown_field, 1, OPENAI),
    Aspect("options", options, len(TUNING) + 1),
    Aspect("options beside the API", options_beside, len(TUNING), RESPONSES),
    Aspect("counter of tokens", counter, 4),
    Aspect("unknown model", unknown_model, 1),
    Aspect("wrong request", bad_request, 1),
    Aspect("conversation too long", overflow, 1),
    Aspect("leaving", leaving, 2),
)
