"""The two usual courses of questions: down a ladder to the first value that works, and through a list of members."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from proxy.core.examination.findings import Answer, ReportRow, Standing, Verdict, written
from proxy.core.examination.question import Case, Course, Question


@dataclass(frozen=True, slots=True)
class Step:
    """One value of a field, and the questions that it must stand. Without any, it needs no proof."""

    value: Any
    questions: Sequence[Question] = ()


@dataclass(frozen=True, slots=True)
class Ladder:
    """Values of one field, the best first."""

    field: str
    steps: Sequence[Step]
    alike: bool = False
    """None is better than another: the assumed one is asked first, and stays if it works."""
    plainest: bool = False
    """Is the last value one that every server takes? Where it fails too, the reason is another."""
    words: Mapping[Any, str] | None = None
    """For values that people would not understand."""

    def course(self, case: Case, name: str) -> Course:
        assumed = getattr(case.assumed, self.field)
        steps = sorted(self.steps, key=lambda step: step.value != assumed) if self.alike else self.steps
        answers: dict[Any, Answer] = {}
        found: Step | None = None
        for step in steps:
            answers[step.value] = answer = yield from _stands(step)
            if answer.works:
                found = step
                break
        return self._row(name, steps, assumed, found, answers)

    def _row(
        self,
        name: str,
        steps: Sequence[Step],
        assumed: Any,
        found: Step | None,
        answers: Mapping[Any, Answer],
    ) -> ReportRow:
        order = [step.value for step in steps]
        seen = self._seen(answers, assumed)
        remark = answers[assumed].remark if assumed in answers else ""
        make = partial(ReportRow, name, seen, self._word(assumed), remark=remark)
        failed = assumed in answers and answers[assumed].fails
        if found is None:
            return make(Standing.WORSE if failed and not self.plainest else Standing.UNKNOWN)
        if found.value == assumed:
            return make(Standing.SAME)
        if assumed in order and order.index(found.value) > order.index(assumed):
            return make(Standing.WORSE, {self.field: found.value}) if failed else make(Standing.UNKNOWN)
        return make(Standing.BETTER, {self.field: found.value})

    def _seen(self, answers: Mapping[Any, Answer], assumed: Any) -> str:
        """Tells each value that was asked for. Why another than the assumed one was refused matters to nobody."""
        seen = []
        for value, answer in answers.items():
            if answer.words == UNASKED:
                continue
            tells = answer.words and (value == assumed or answer.verdict is not Verdict.REFUSED)
            seen.append(f"{self._word(value)}: {answer.verdict}" + (f" ({answer.words})" if tells else ""))
        return "; ".join(seen) or self._word(assumed)

    def _word(self, value: Any) -> str:
        return (self.words or {}).get(value) or written(value)


UNASKED = "unasked"


def _stands(step: Step) -> Any:
    """Asks until a question fails: the others would prove nothing more."""
    answer = Answer(Verdict.WORKS, UNASKED)
    for question in step.questions:
        answer = yield question
        if not answer.works:
            break
    return answer


@dataclass(frozen=True, slots=True)
class Members:
    """Whether each of some things belongs in a field that is a set."""

    field: str
    questions: Callable[[Case], Mapping[str, Question]]
    ignored_is_well: bool = False
    """Does it do no harm to send what is ignored?"""

    def course(self, case: Case, name: str) -> Course:
        assumed: frozenset[str] = getattr(case.assumed, self.field)
        answers: dict[str, Answer] = {}
        for member, question in self.questions(case).items():
            answers[member] = yield question
        if not answers:
            return None
        failed = {member for member in assumed if member in answers and self._fails(answers[member])}
        more = {member for member, answer in answers.items() if answer.works and member not in assumed}
        standing = Standing.WORSE if failed else Standing.BETTER if more else self._same(answers)
        overrides = {self.field: (assumed - failed) | more} if failed or more else {}
        words = [
            f"{member}: {answer.verdict}" + (f" ({answer.words})" if answer.fails and answer.words else "")
            for member, answer in answers.items()
        ]
        remark = next((answer.remark for answer in answers.values() if answer.remark), "")
        return ReportRow(name, "; ".join(words), written(assumed), standing, overrides, remark)

    def _fails(self, answer: Answer) -> bool:
        return answer.verdict is Verdict.REFUSED or (answer.fails and not self.ignored_is_well)

    @staticmethod
    def _same(answers: Mapping[str, Answer]) -> Standing:
        unclear = all(answer.verdict is Verdict.UNCLEAR for answer in answers.values())
        return Standing.UNKNOWN if unclear else Standing.SAME
