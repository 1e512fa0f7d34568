"""Reasoning: how a model is asked for more or less of it, which field it comes in, and whether it may go back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from proxy.core.backends.efforts import THINKING_SWITCH
from proxy.core.examination import material, readers
from proxy.core.examination.aspects import CHAT, OPENAI, RESPONSES, Aspect
from proxy.core.examination.courses import Ladder, Step
from proxy.core.examination.findings import Answer, ReportRow, Standing, Verdict, written
from proxy.core.examination.heard import Heard
from proxy.core.examination.material import SHORT, ask, assistant, user, with_calls
from proxy.core.examination.question import Case, Course, Question
from proxy.core.model import Reasoning, ReasoningWish, Request, Text
from proxy.core.profile import EffortField, Replay

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
USUAL = "low"

REREAD = 10
"""Tokens that the thought in the history has at least."""

SWITCHES = frozenset({"enable_thinking", "template"})
"""They know on and off only, whatever the word."""

FIELDS: dict[str, Replay] = {
    "reasoning_content": "reasoning_content",
    "reasoning": "reasoning",
    "reasoning_details": "reasoning_details",
}
"""Where a thought that came in a field can go back. Of the others, none is known to be taken."""


def _with(effort: str, limit: int = SHORT) -> Request:
    return ask(material.SKY, limit=limit, reasoning=ReasoningWish(effort))


def effort(case: Case, name: str) -> Course:
    assumed = case.assumed.effort_field
    answer: Answer | None = None
    if assumed != "none":
        answer = yield Question(name, _with(USUAL), readers.accepted)
        if not answer.fails:
            standing = Standing.SAME if answer.works else Standing.UNKNOWN
            return ReportRow(name, answer.words or f"takes {assumed}", assumed, standing)
    for other in _others(case, assumed):
        fields = _switch(other)
        off = yield Question(name, _with("none", material.LIMIT), _is_thoughtless, fields)
        if off.works:
            standing = Standing.WORSE if answer else Standing.BETTER
            return ReportRow(name, f"{other} switches it off", assumed, standing, fields)
    if answer:
        return ReportRow(
            name, f"{assumed} refused ({answer.words})", assumed, Standing.WORSE, {"effort_field": "none"}
        )
    return ReportRow(
        name, "no known switch" if case.thinks else "no reasoning was seen", assumed, Standing.SAME
    )


def _others(case: Case, assumed: str) -> Iterable[EffortField]:
    """A switch shows only in a model that thinks. Dialects other than Chat have one of their own."""
    if not case.thinks:
        return ()
    return [field for field in _SWITCHES.get(case.dialect, ()) if field not in (assumed, "none")]


_SWITCHES: Mapping[str, Sequence[EffortField]] = {
    "chat": get_args(EffortField),
    "responses": ("reasoning_effort",),
}


def _switch(field: EffortField) -> dict[str, Any]:
    return {"effort_field": field} | ({"effort_map": THINKING_SWITCH} if field == "thinking" else {})


def _is_thoughtless(heard: Heard) -> Answer:
    if heard.thoughts:
        return readers.ignored(heard, "it thinks all the same")
    return readers.works(heard) if heard.text else readers.unclear(heard)


def efforts(case: Case, name: str) -> Course:
    """Each of the clients' words must reach the vendor as one that it takes."""
    profile = case.profile
    if profile.effort_field == "none" or profile.effort_field in SWITCHES:
        return None
    answers: dict[str, Answer] = {}
    for word in EFFORTS:
        answers[word] = yield Question(name, _with(word), readers.accepted)
    refused = [word for word, answer in answers.items() if answer.verdict is Verdict.REFUSED]
    taken = [word for word, answer in answers.items() if answer.works]
    if not taken:
        return ReportRow(name, "none is known to be taken", "all", Standing.UNKNOWN)
    if not refused:
        return ReportRow(name, "takes all", "all", Standing.SAME)
    mapped = dict(profile.effort_map)
    for word in refused:
        mapped[word] = mapped.get(nearest := _nearest(word, taken)) or nearest
    words = f"refuses {', '.join(refused)} ({answers[refused[0]].words})"
    kept = {word: value for word, value in mapped.items() if value is not None}
    return ReportRow(name, words, "all", Standing.WORSE, {"effort_map": kept})


def _nearest(word: str, taken: list[str]) -> str:
    """The next weaker word, or the weakest."""
    weaker = [each for each in taken if EFFORTS.index(each) < EFFORTS.index(word)]
    return weaker[-1] if weaker else taken[0]


def beside_tools(case: Case, name: str) -> Course:
    """Models of OpenAI's since gpt-5.4 refuse to think beside tools in Chat."""
    if case.profile.effort_field == "none":
        return None
    request = ask(
        material.WEATHER_IN_PARIS,
        limit=SHORT,
        tools=[material.WEATHER_TOOL],
        choice=case.choice,
        reasoning=ReasoningWish(USUAL),
    )
    in_chat = {"wire": "chat", "thinks_beside_tools": True}
    question = Question(name, request, readers.accepted, in_chat, refusal=_of_thinking)
    words = {True: "in Chat", False: "only in the Responses API"}
    steps = [Step(True, [question]), Step(False)]
    return (yield from Ladder("thinks_beside_tools", steps, words=words).course(case, name))


def _of_thinking(heard: Heard) -> Answer:
    """Only the words for this very thing prove it: a request can be refused for other reasons."""
    words = heard.fault.message if heard.fault else ""
    verdict = Verdict.REFUSED if heard.lesson == "thinking" else Verdict.UNCLEAR
    return Answer(verdict, words, heard)


def replay(case: Case, name: str) -> Course:
    """May a thought go back, in which field, and does the model get to read it? Its tokens are counted if it does."""
    assumed: Replay = case.profile.replay
    tried = _carriers(case, assumed)
    if not tried:
        return ReportRow(name, "no reasoning was seen", assumed, Standing.SAME)
    plain = yield Question(
        name, with_calls(choice=case.choice), readers.accepted, {"replay": "none", "replay_blank": None}
    )
    needed = plain.verdict is Verdict.REFUSED
    answers: dict[Replay, Answer] = {}
    for field in tried:
        read = readers.read_beyond(plain.heard.input_tokens, REREAD)
        thought = with_calls(thought=material.a_thought(), choice=case.choice)
        answers[field] = yield Question(name, thought, read, {"replay": field})
    if needed and all(answer.verdict is Verdict.REFUSED for answer in answers.values()):
        return ReportRow(name, f"refused with and without ({plain.words})", assumed, Standing.UNKNOWN)
    return _replayed(name, assumed, answers, needed=needed)


def _carriers(case: Case, assumed: Replay) -> Sequence[Replay]:
    """The fields that are worth a question. By Responses a thought is an item, whichever of them the profile names."""
    if case.dialect in RESPONSES:
        any_of_them: Replay = "reasoning_content" if case.thinks and assumed == "none" else assumed
        return () if any_of_them == "none" else (any_of_them,)
    came = FIELDS.get(case.spelling.thought_field or "")
    return [field for field in dict.fromkeys((came, assumed)) if field and field != "none"]


def _replayed(name: str, assumed: Replay, answers: dict[Replay, Answer], *, needed: bool) -> ReportRow:
    wanted = "wanted back; " if needed else ""
    seen = wanted + "; ".join(
        f"{field} {answer.words or 'read by the model'}" for field, answer in answers.items()
    )
    taken = [field for field, answer in answers.items() if answer.verdict is not Verdict.REFUSED]
    read = [field for field in taken if answers[field].works or needed]
    own = answers.get(assumed)
    if own is not None and (assumed in read or (assumed in taken and not read)):
        return ReportRow(name, seen, assumed, Standing.SAME)
    best = read[0] if read else None
    if best is None:
        standing = Standing.WORSE if own is not None else Standing.SAME
        return ReportRow(name, seen, assumed, standing, {"replay": "none"} if own is not None else {})
    fields: dict[str, Any] = {"replay": best}
    if needed:
        fields |= {"replay_blank": " ", "replay_scope": "all"}
    refused = own is not None and own.verdict is Verdict.REFUSED
    return ReportRow(name, seen, assumed, Standing.WORSE if needed or refused else Standing.BETTER, fields)


def replay_scope(case: Case, name: str) -> Course:
    """Thoughts beside answers without a call."""
    if case.profile.replay in ("none", "think_tags") or case.assumed.replay_scope != "all":
        return None
    request = ask(
        material.SKY, assistant(material.a_thought(), Text("Blue.")), user("And at night?"), limit=SHORT
    )
    question = Question(name, request, readers.accepted, {"replay_scope": "all"})
    words = {"all": "with all messages", "calls": "with calls"}
    steps = [Step("all", [question]), Step("calls")]
    return (yield from Ladder("replay_scope", steps, words=words).course(case, name))


def sealed(case: Case, name: str) -> Course:
    """Are thoughts sealed if that is asked for, and does the model take them back?"""
    assumed, asked = case.assumed.sealed_thoughts, {"sealed_thoughts": True}
    first = yield Question(name, ask(material.SKY, reasoning=ReasoningWish(USUAL)), _seals, asked)
    if not first.works:
        standing = Standing.WORSE if first.verdict is Verdict.REFUSED else Standing.UNKNOWN
        return _sealed(name, first.words, assumed, standing if assumed else Standing.SAME)
    thoughts = [Reasoning("", extras) for extras in first.heard.wanted_back]
    said = assistant(*thoughts, Text(first.heard.text or "Blue."))
    again = ask(material.SKY, said, user("And at night?"), limit=SHORT, reasoning=ReasoningWish(USUAL))
    back = yield Question(name, again, readers.accepted, asked)
    if back.works:
        return _sealed(name, "yes", assumed, Standing.SAME if assumed else Standing.BETTER)
    seen = f"sealed, and not taken back ({back.words})"
    standing = Standing.WORSE if back.verdict is Verdict.REFUSED else Standing.UNKNOWN
    return _sealed(name, seen, assumed, standing if assumed else Standing.SAME)


def _sealed(name: str, seen: str, assumed: bool, standing: Standing) -> ReportRow:
    changes = standing in (Standing.WORSE, Standing.BETTER)
    return ReportRow(
        name, seen, written(assumed), standing, {"sealed_thoughts": not assumed} if changes else {}
    )


def _seals(heard: Heard) -> Answer:
    if heard.wanted_back:
        return readers.works(heard)
    return readers.unclear(
        heard, "taken; the thoughts came unsealed" if heard.thoughts else "taken; none came"
    )


def summaries(case: Case, name: str) -> Course:
    """Asks for summaries. A backend that tells thoughts unasked has none."""
    if case.profile.effort_field == "none":
        return None
    tells = case.thinks

    def read(heard: Heard) -> Answer:
        told = bool(heard.thoughts) and not tells
        return readers.works(heard) if told else readers.unclear(heard, "taken; none came")

    request = ask(material.SKY, reasoning=ReasoningWish(USUAL, "auto"))
    steps = [Step(True, [Question(name, request, read, {"summaries": True})]), Step(False)]
    return (yield from Ladder("summaries", steps).course(case, name))


def unopened(case: Case, name: str) -> Course:
    """Thoughts of which only the end is seen, because the prompt's template has begun them."""
    yield from ()  # the replies so far have shown it
    assumed = case.assumed.thoughts_until
    if case.closer is None or case.closer == assumed:
        return ReportRow(name, assumed or "none", assumed or "none", Standing.SAME)
    return ReportRow(
        name, f"end with {case.closer}", assumed or "none", Standing.WORSE, {"thoughts_until": case.closer}
    )


ASPECTS = (
    Aspect("reasoning effort", effort, len(get_args(EffortField))),
    Aspect("words for effort", efforts, len(EFFORTS), OPENAI),
    Aspect("reasoning beside tools", beside_tools, 1, CHAT, of_tools=True),
    Aspect("summaries", summaries, 1, RESPONSES),
    Aspect("sealed thoughts", sealed, 2, RESPONSES),
    Aspect("reasoning goes back", replay, 3, OPENAI, of_tools=True),
    Aspect("reasoning goes back without calls", replay_scope, 1, OPENAI),
)
AT_LAST = (Aspect("thoughts in the text", unopened, 0),)
