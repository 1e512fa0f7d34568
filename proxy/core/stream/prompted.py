"""Reasoning whose opener is the end of the prompt: a reply begins inside it, and only the closing tag is ever seen.

That is what the templates of many reasoning models do. A server with a reasoning parser knows it and tells thought and
answer apart; behind one without, a reply shows it: `unopened` finds a closing tag that nothing has opened, and from
then on replies of that model are read by the splitter below (`BackendProfile.thoughts_until`).

Any client can make a model write a closing tag, so what was learned may be wrong, and must then harm nobody: a reply
without the tag that comes to its end was an answer, and is told as one, whole, after it was told as a thought; and the
lesson is unlearned. A reply that was cut says nothing either way. Nor does one that begins with a bracket: JSON that a
grammar forces begins at once, whatever the prompt ended with.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from proxy.core.events import Delta, ErrorDelta, Finish, FinishDelta, PartEnded, ReasoningDelta, TextDelta
from proxy.core.logprobs import of_text
from proxy.core.model import Reasoning, Text
from proxy.core.stream.think import AFTER, ASIDE, THINK_FORMS, THINKING, UNDECIDED, ThinkSplitter

BRACKETS: Final = frozenset("{[")
QUOTE_MARKS: Final = frozenset("`'\"\u201c\u2018")
"""A tag behind one of them is spoken of."""
TAGGED: Final = tuple(form for form in THINK_FORMS if not form.answer)


class PromptedSplitter(ThinkSplitter):
    def __init__(self, emit: Callable[[Delta], None], until: str) -> None:
        super().__init__(emit)
        self.until: Final = until
        self._assumed: list[TextDelta] | None = None
        """What was taken for a thought, and may yet be the answer."""
        self.holds: bool | None = None
        """Did the reply begin inside a thought? None: it has not shown it."""
        self.took_back = False
        """Was the answer taken for a thought at first?"""

    def feed(self, delta: Delta) -> None:
        if self._assumed is not None and self._state is THINKING:
            if type(delta) is TextDelta:
                self._assumed.append(delta)
            elif type(delta) not in ASIDE and not _cuts(delta):
                self._take_back(self._assumed)
        elif self._state is UNDECIDED and type(delta) is ReasoningDelta and delta.text:
            self.holds = False  # the server tells them apart itself
        super().feed(delta)

    def _decide(self, text: str) -> str:
        rest = super()._decide(text)
        if self._state is AFTER:
            self.holds = True
        return rest

    def _without_tag(self, text: str) -> str:
        if self.holds is False or text.lstrip()[:1] in BRACKETS:
            return super()._without_tag(text)
        self._state, self._closer = THINKING, self.until
        self._assumed = [TextDelta(text, [*self._logprobs])]
        return text

    def _until_closer(self, text: str) -> str:
        rest = super()._until_closer(text)
        if self._assumed is not None and self._state is AFTER:
            self._assumed = None
            self.holds = True
        return rest

    def _take_back(self, assumed: Sequence[TextDelta]) -> None:
        """It was the answer."""
        self.holds, self.took_back = False, True
        self._held = ""
        logprobs: list[Any] = [entry for delta in assumed for entry in delta.logprobs or ()]
        self._emit(TextDelta("".join(delta.text for delta in assumed), logprobs or None))


def _cuts(delta: Delta) -> bool:
    """Does the reply stop where it is, so that the closing tag may have been still to come?"""
    return isinstance(delta, ErrorDelta) or (
        isinstance(delta, FinishDelta) and delta.finish is not Finish.STOP
    )


# ── what a reply shows that was not read so ──


class Unopened(NamedTuple):
    """A text in which a thought is closed that nothing in it has opened."""

    thought: str
    closer: str
    answer: str


def unopened(parts: Sequence[PartEnded]) -> Unopened | None:
    """What its first words show, if nothing was told as reasoning before them."""
    first = parts[0].part if parts else None
    if not isinstance(first, Text):
        return None
    for form in TAGGED:
        if form.closer not in first.text:
            continue
        thought, closer, answer = first.text.partition(form.closer)
        if form.opener not in thought and thought[-1:] not in QUOTE_MARKS:
            return Unopened(thought, closer, answer)
    return None


def with_thought_apart(parts: Sequence[PartEnded], found: Unopened) -> list[PartEnded]:
    """The parts of a reply that nobody has seen yet, with what was thought apart from what was answered."""
    first = parts[0]
    assert isinstance(first.part, Text)
    apart: list[PartEnded] = []
    if thought := found.thought.lstrip():
        apart.append(PartEnded(Reasoning(thought), complete=True))
    if answer := found.answer.lstrip():
        logprobs = of_text(first.part.logprobs, answer) if first.part.logprobs else None
        apart.append(PartEnded(Text(answer, logprobs), first.complete))
    return [*apart, *parts[1:]]


def without_thought(parts: Sequence[PartEnded]) -> list[PartEnded]:
    """The same where the answer was taken for a thought first, and is told after it."""
    return [*parts[1:]] if parts and isinstance(parts[0].part, Reasoning) else [*parts]
