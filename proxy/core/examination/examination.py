"""The examination of one model: which question comes next, and what all answers say.

Each row that finds the profile wrong changes the form of the questions that follow, so that one oddity does not spoil
the rest. There are bounds: so many questions, so many tokens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from proxy.core.backends import wires
from proxy.core.backends.target import Target
from proxy.core.dialects.registry import counter_of, spoken_by
from proxy.core.errors import Fault, Incompatible
from proxy.core.examination import basics, calling, forms, limits, messages, thinking
from proxy.core.examination.aspects import Aspect
from proxy.core.examination.findings import Answer, ReportRow, Standing, Verdict
from proxy.core.examination.heard import Heard, Received, heard_of
from proxy.core.examination.limits import AFFORDABLE
from proxy.core.examination.material import LIMIT
from proxy.core.examination.question import Case, Course, Question, answer_to
from proxy.core.flow.request import Preparation, prepared_for
from proxy.core.ledger import Ledger

ASPECTS: Sequence[Aspect] = (
    *basics.ASPECTS,
    *messages.ASPECTS,
    *calling.ASPECTS,
    *messages.OF_CALLS,
    *forms.ASPECTS,
    *thinking.ASPECTS,
    *limits.ASPECTS,
    *calling.AT_LAST,
    *thinking.AT_LAST,
)

FIRST = basics.ASPECTS[0].name
"""Without it, nothing else can be examined."""

BYTES_PER_TOKEN = 3
"""Bytes of a request that count as one token. Most tokenizers make fewer tokens."""

ALLOWED = 60_000
"""Tokens of all questions together, unless somebody says otherwise. A model that does not think needs a sixth."""

IMPOSSIBLE = "not asked: the profile says that it is impossible"
SPENT = "not asked: the tokens that the examination may use are spent"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in the form in which it is sent."""

    question: Question
    preparation: Preparation

    @property
    def tokens(self) -> int:
        """The tokens that it costs at most, if the backend obeys the limit."""
        limit = self.question.request.sampling.max_tokens or LIMIT
        return len(self.preparation.post.body) // BYTES_PER_TOKEN + limit


class Examination:
    def __init__(
        self,
        target: Target,
        model: str,
        *,
        window: int | None = None,
        tokens: int | None = None,
        aspects: Sequence[Aspect] = ASPECTS,
    ) -> None:
        """`target` has the profile of the model. `window`: in tokens, if known. `tokens`: at most so many are used."""
        self._target = target
        self._model = model
        self.case = Case(target.profile, target.profile, window)
        self.rows: list[ReportRow] = []
        self.asked = 0
        self.tokens = 0
        """Used so far, as counted, or as guessed where the backend does not count."""
        self._aspects = aspects
        self.most_questions = max(map(self._most_in, _languages(self.case)))
        self.most_tokens = tokens or self._bound()
        self._left = list(self._aspects)
        self._course: Course | None = None
        self._now = self._aspects[0]
        self._next: Question | None = None
        self._advance()

    def _bound(self) -> int:
        window = self.case.window
        return ALLOWED + (2 * window if window and window <= AFFORDABLE else 0)

    def _most_in(self, dialect: str) -> int:
        return sum(each.most for each in self._aspects if each.concerns(dialect))

    @property
    def model(self) -> str:
        return self._model

    @property
    def doing(self) -> str:
        """The aspect that is looked at."""
        return self._now.name

    def next(self) -> Asked | None:
        """The question to ask now. None: there is none left."""
        while (question := self._next) is not None:
            asked = self._prepared(question)
            if isinstance(asked, Answer):
                self._answer(asked)
            elif self.tokens + asked.tokens > self.most_tokens:
                self._answer(Answer(Verdict.UNCLEAR, SPENT))
            else:
                return asked
        return None

    def take(self, asked: Asked, received: Received | Fault) -> None:
        """Takes what came, or why nothing came."""
        self.asked += 1
        if isinstance(received, Fault):
            heard = Heard(fault=received)
        else:
            heard = heard_of(asked.preparation, received)
        self.tokens += _used(asked, heard)
        self.case.note(heard)
        self._answer(answer_to(asked.question, heard))

    def _prepared(self, question: Question) -> Asked | Answer:
        """The question as the dialect writes it. What the profile says to be impossible is not asked."""
        profile = replace(self.case.profile, **question.fields)
        target = replace(self._target, profile=profile)
        model = question.model or self._model
        counting = counter_of(profile) if question.counter else None
        url = counting.url(target, model) if counting else spoken_by(profile).reply_url(target, model)
        request = replace(question.request, model=model)
        try:
            return Asked(question, prepared_for(request, target, model, url, Ledger(), counting))
        except Incompatible:
            return Answer(Verdict.UNCLEAR, IMPOSSIBLE)

    def _answer(self, answer: Answer) -> None:
        assert self._course is not None
        try:
            self._next = self._course.send(answer)
        except StopIteration as ended:
            self._end(ended.value)

    def _end(self, row: ReportRow | None) -> None:
        self._record(row)
        self._advance()

    def _record(self, row: ReportRow | None) -> None:
        if row is None:
            return
        self.rows.append(row)
        self.case.profile = replace(self.case.profile, **row.overrides)
        if row.name == FIRST and row.standing is Standing.WORSE and not row.overrides:
            self._left.clear()

    def _advance(self) -> None:
        """Goes on to the next aspect that has a question."""
        self._next = self._course = None
        while self._left and self._next is None:
            self._now = self._left.pop(0)
            if not (self._now.concerns(self.case.dialect) and self._now.applies(self.case)):
                continue
            self._course = self._now.course(self.case, self._now.name)
            try:
                self._next = next(self._course)
            except StopIteration as ended:
                self._record(ended.value)

    @property
    def overrides(self) -> Mapping[str, Any]:
        """The fields of the profile that should be set by hand."""
        return {name: value for row in self.rows for name, value in row.overrides.items()}

    @property
    def is_worse(self) -> bool:
        return any(row.standing is Standing.WORSE for row in self.rows)


def _languages(case: Case) -> set[str]:
    """The languages in which questions may be put before it is known which endpoints there are."""
    other = wires.other(case.profile, case.profile)
    return {case.dialect} | ({wires.usual(other)} if other else set())


def _used(asked: Asked, heard: Heard) -> int:
    if heard.usage is not None:
        return heard.usage.total_tokens
    said = len(heard.text) + len(heard.thoughts)
    return (len(asked.preparation.post.body) + said) // BYTES_PER_TOKEN
