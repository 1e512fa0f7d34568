"""Reasoning whose opener is the end of the prompt: a reply begins inside it, and shows only the closing tag.

The templates of many reasoning models do so. A server with a reasoning parser separates thought and answer itself. From
a server without one, a reply shows it: `unopened` finds a closing tag that nothing has opened, and from then on the
splitter below reads the replies of that model (`BackendProfile.thoughts_until`).

Any client can make a model write a closing tag, so the lesson may be wrong, and must then do no harm: a complete reply
without the tag was an answer. It is sent again as a whole answer, after it was sent as a thought, and the lesson is
dropped. A reply that was cut proves nothing. Nor does one that begins with a bracket: JSON that a grammar forces begins
at once, however the prompt ended.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from proxy.core.events import Delta, ErrorDelta, Finish, FinishDelta, PartEnded, ReasoningDelta, TextDelta
from proxy.core.logprobs import of_text
from proxy.core.model import Reasoning, Text
from proxy.core.stream.think import AFTER, ASIDE, PLAIN_FORMS, THINKING, UNDECIDED, ThinkSplitter

BRACKETS: Final = frozenset("{[")
QUOTE_MARKS: Final = frozenset("`'\"\u201c\u2018")
"""A tag behind one of them is only mentioned."""
TAGGED: Final = PLAIN_FORMS


class PromptedSplitter(ThinkSplitter):
    def __init__(self, emit: Callable[[Delta], None], until: str) -> None:
        super().__init__(emit)
        self.until: Final = until
        self._assumed: list[TextDelta] | None = None
        """What was taken for a thought, and may still be the answer."""
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
        """Sends as the answer what was taken for a thought."""
        self.holds, self.took_back = False, True
        self._held = ""
        logprobs: list[Any] = [entry for delta in assumed for entry in delta.logprobs or ()]
        self._emit(TextDelta("".join(delta.text for delta in assumed), logprobs or None))


def _cuts(delta: Delta) -> bool:
    """Is the reply cut here, so that the closing tag may only be missing?"""
    return isinstance(delta, ErrorDelta) or (
        isinstance(delta, FinishDelta) and delta.finish is not Finish.STOP
    )


# ── what a reply shows that was not read so ──


class Unopened(NamedTuple):
    """A text that closes a thought which nothing in it has opened."""

    thought: str
    closer: str
    answer: str


def unopened(parts: Sequence[PartEnded]) -> Unopened | None:
    """Returns what the first text shows, if no reasoning came before it."""
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
    """Returns the parts of a reply that the client has not seen yet, with thought and answer separated."""
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
    """Returns the parts of a reply whose answer was first taken for a thought, and comes after it."""
    return [*parts[1:]] if parts and isinstance(parts[0].part, Reasoning) else [*parts]
