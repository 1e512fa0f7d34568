"""A stage in front of the guard: it lets the caller wait for a check that the guard asks for.

The guard needs no time, and most checks need none. A check that could take long becomes a `question` for the caller,
which may wait. Until the verdict comes, this stage holds the end of the call and everything after it. The caller looks
for a question after each read, so the stage never holds more than one read.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from proxy.core.argument_problem import UNCHECKED, ArgumentProblem
from proxy.core.events import Event, PartEnded
from proxy.core.model import Call, ToolName, ToolSpec
from proxy.core.sink import Sink
from proxy.core.work import BRIEF_UNITS, Allowance, TakesLong, UnitBudget


@dataclass(frozen=True, slots=True)
class PendingCheck:
    """Do these arguments fit this tool?"""

    spec: ToolSpec
    arguments: str


class AwaitedChecks:
    """The checks of the calls of one reply."""

    def __init__(
        self,
        declared: Mapping[ToolName, ToolSpec],
        is_checked: Callable[[ToolSpec], bool],
        briefly: Callable[[ToolSpec, str, UnitBudget], ArgumentProblem | None],
    ) -> None:
        """`briefly` raises TakesLong where a check could take long."""
        self._declared = declared
        self._is_checked = is_checked
        self._briefly = briefly
        self._allowance = Allowance(BRIEF_UNITS)
        """Shared by all brief checks of the reply."""
        self._may_wait = True
        self._held: list[Event | tuple[str, list[Any] | None]] = []
        self._problem: ArgumentProblem | None = None
        """The problem of the call that is being passed on."""
        self.pending: PendingCheck | None = None

    def check_of(self, spec: ToolSpec) -> Callable[[str], ArgumentProblem | None] | None:
        """Returns the check as the guard calls it. None where arguments are free text."""
        return self._problem_found if self._is_checked(spec) else None

    def _problem_found(self, arguments: str) -> ArgumentProblem | None:
        return self._problem

    def stage(self, sink: Sink) -> Sink:
        self._emit, self._pass_on = sink.feed, sink.delta
        return Sink(self._feed, self._delta)

    def settle(self, problem: ArgumentProblem | None) -> None:
        """Takes the verdict on the question, and passes on what was held, up to the next question."""
        self.pending, self._problem = None, problem
        (ended, *held), self._held = self._held, []
        assert isinstance(ended, PartEnded)
        self._emit(ended)
        for each in held:
            if isinstance(each, tuple):
                self._delta(*each)
            else:
                self._feed(each)

    def give_up(self) -> None:
        """The caller no longer waits: what is unchecked now stays unchecked."""
        self._may_wait = False
        if self.pending is not None:
            self.settle(UNCHECKED)

    def _feed(self, event: Event) -> None:
        if self.pending is not None:
            self._held.append(event)
            return
        if isinstance(event, PartEnded) and event.complete and isinstance(event.part, Call):
            self._check(event.part)
            if self.pending is not None:
                self._held.append(event)
                return
        self._emit(event)

    def _delta(self, text: str, logprobs: list[Any] | None) -> None:
        if self.pending is not None:
            self._held.append((text, logprobs))
        else:
            self._pass_on(text, logprobs)

    def _check(self, call: Call) -> None:
        spec = self._declared.get(call.tool)
        if spec is None or not self._is_checked(spec):
            return
        try:
            self._problem = self._briefly(spec, call.arguments, self._allowance)
        except TakesLong:
            if self._may_wait:
                self.pending = PendingCheck(spec, call.arguments)
            else:
                self._problem = UNCHECKED
