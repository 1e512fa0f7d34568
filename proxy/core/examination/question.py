"""One question: a request, how it must be put, and what its answer proves.

A question names the fields of the profile that it needs to be another, and the dialect writes it with those. So it is
put as the proxy would put it if the profile were so, in each dialect's own words.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from proxy.core.backends import wires
from proxy.core.backends.counter import shows_no_counter
from proxy.core.dialects.reading import lessons
from proxy.core.errors import BackendFault, ClientFault, Empty, Fault, Forbidden, TooMany, Unauthorized
from proxy.core.examination.findings import Answer, ReportRow, Verdict
from proxy.core.examination.heard import Heard
from proxy.core.examination.spelling import Spelling
from proxy.core.masking.redact import quotable
from proxy.core.model import ChoiceMode, Request, ToolChoice
from proxy.core.profile import BackendProfile

CRASH = "500"
"""A server that fails so for one question, and not for others, refuses it in its way."""

OVERFLOWED = "context_length_exceeded"
"""The code of a refusal that is about the length alone."""

QUOTED = 160
"""Characters of a refusal that are shown."""

Read = Callable[[Heard], Answer]
"""Judges a reply. Refusals and failures were judged before."""


@dataclass(frozen=True, slots=True)
class Question:
    name: str
    request: Request
    read: Read
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the profile, as they need to be."""
    model: str = ""
    """Another model than the one that is examined."""
    counter: str = ""
    """Ask this counter of tokens, instead of the model."""
    leave: bool = False
    """Leave as soon as the reply has begun."""
    refusal: Read | None = None
    """Judges refusals too, where they are what the question is about."""


@dataclass(slots=True)
class Case:
    """What is known so far of the model that is examined."""

    assumed: BackendProfile
    """The profile before the examination."""
    profile: BackendProfile
    """That profile with what was found since. Questions are put in its form."""
    window: int | None = None
    """Tokens that a conversation may have, if the list of models tells."""
    baseline: int | None = None
    """Tokens of `SKY` alone. A request with more in it has more, unless the backend drops it."""
    spelling: Spelling = field(default_factory=Spelling)
    thinks: bool = False
    closer: str | None = None
    must_force: bool = False
    """Are requests with tools refused unless a call is required?"""
    ignores_unknown: bool = False
    """Are fields that it does not know taken? Then it proves nothing that one is."""
    leaked: set[str] = field(default_factory=set)
    usual_seconds: float | None = None
    """How long the head of a short reply takes."""

    @property
    def dialect(self) -> str:
        """The language in which the questions are put."""
        return wires.usual(self.profile)

    @property
    def choice(self) -> ToolChoice:
        """For requests with tools that are about something else."""
        return ToolChoice(ChoiceMode.REQUIRED) if self.must_force else ToolChoice()

    def note(self, heard: Heard) -> None:
        self.spelling.add(heard.spelling)
        if self.spelling.other_choices:  # else the calls of the next replies would be overlooked
            self.profile = replace(self.profile, calls_in_other_choices=True)
        self.thinks |= bool(heard.thoughts)
        self.closer = heard.closer or self.closer
        self.leaked.update(heard.leaked)

    def is_seen(self, heard: Heard, by: int = 1) -> bool | None:
        """Has the model read more than the baseline? None: the backend does not count."""
        if self.baseline is None or heard.input_tokens is None:
            return None
        return heard.input_tokens >= self.baseline + by


Course = Generator[Question, Answer, ReportRow | None]
"""Asks until it can give a row. No row: there was nothing to ask."""


def answer_to(question: Question, heard: Heard) -> Answer:
    fault = heard.fault
    if fault is None or isinstance(fault, Empty):  # which says nothing against the request
        return _with_lesson(question, question.read(heard))
    if question.refusal is not None and is_refusal(fault):
        return question.refusal(heard)
    if question.counter and shows_no_counter(fault):
        return Answer(Verdict.REFUSED, "there is none", heard)
    if fault.code == OVERFLOWED:
        return Answer(Verdict.UNCLEAR, "it does not fit into the window", heard)
    words = _words_of(fault, heard)
    if not is_refusal(fault):
        return Answer(Verdict.UNCLEAR, words, heard)
    by_itself = f"The proxy learns this from the refusal ({heard.lesson})." if heard.lesson else ""
    return Answer(Verdict.REFUSED, words, heard, lessons.advice(fault.message) or by_itself)


def _with_lesson(question: Question, answer: Answer) -> Answer:
    """Says what of the question's own fields the proxy learns from such replies."""
    if answer.verdict is not Verdict.IGNORED or not (
        names := sorted(answer.heard.taught & question.fields.keys())
    ):
        return answer
    return replace(
        answer, remark=answer.remark or f"The proxy learns this from replies ({', '.join(names)})."
    )


def is_refusal(fault: Fault) -> bool:
    """Does it say something about what was asked? Who asks, how often, and bad luck say nothing."""
    if isinstance(fault, ClientFault):
        return not isinstance(fault, Unauthorized | Forbidden | TooMany)
    return is_crash(fault)


def is_crash(fault: Fault | None) -> bool:
    return isinstance(fault, BackendFault) and fault.seen == CRASH


def _words_of(fault: Fault, heard: Heard) -> str:
    status = "" if heard.status in (0, 200) else f"HTTP {heard.status}: "
    return status + quotable(fault.message, QUOTED)
