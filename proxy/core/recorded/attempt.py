"""One attempt at a reply once more: its bytes into the pipeline, as the engine's loop puts them there."""

from collections.abc import Callable, Iterable, Sequence

from proxy.core.argument_problem import ArgumentProblem
from proxy.core.errors import Fault
from proxy.core.flow.refused import refused
from proxy.core.flow.reply import ReplyFlow
from proxy.core.policy.awaited_checks import AwaitedChecks, PendingCheck
from proxy.core.profile import BackendProfile
from proxy.core.recorded.conditions import target_of
from proxy.core.recorded.faults import fault_of
from proxy.core.recorded.recording import RecordedAttempt, RecordedVerdict
from proxy.core.tools import arguments


class Signs:
    """The signs of life of a stream, each after as many bytes as had come before it."""

    def __init__(self, reads: Sequence[bytes], signs: Iterable[int], send: Callable[[], None]) -> None:
        """`reads` are those of all attempts. `signs`: how many of them had come before each."""
        sizes = [0]
        for data in reads:
            sizes.append(sizes[-1] + len(data))
        self._at = [sizes[min(sign, len(reads))] for sign in signs]
        self._send = send
        self._came = 0

    def came(self, size: int) -> None:
        self._came += size

    def due(self) -> None:
        while self._at and self._at[0] <= self._came:
            del self._at[0]
            self._send()

    def rest(self) -> None:
        while self._at:
            del self._at[0]
            self._send()


class Verdicts:
    """On calls that take long to check: those that were recorded, each once, and then such as are found now."""

    def __init__(self, recorded: Iterable[RecordedVerdict]) -> None:
        self._left = list(recorded)

    def settle(self, checks: AwaitedChecks | None) -> None:
        """Answers the questions that have come up, however long that takes."""
        while checks is not None and (question := checks.pending) is not None:
            verdict = self._recorded(question)
            if verdict is None:
                checks.settle(arguments.verdict(arguments.written(question.spec), question.arguments))
            elif verdict.gave_up:
                checks.give_up()
            else:
                checks.settle(_problem(verdict))

    def _recorded(self, question: PendingCheck) -> RecordedVerdict | None:
        """Found by what stays where a recording is masked: which tool, and how long its arguments are."""
        about = question.spec.tool.dotted, len(question.arguments)
        found = next((each for each in self._left if (each.tool, each.size) == about), None)
        if found is not None:
            self._left.remove(found)
        return found


def _problem(verdict: RecordedVerdict) -> ArgumentProblem | None:
    if not verdict.code:
        return None
    return ArgumentProblem(verdict.code, verdict.message, verdict.path, verdict.remark)


def play(
    flow: ReplyFlow,
    attempt: RecordedAttempt,
    profile: BackendProfile,
    pieces: Sequence[bytes],
    signs: Signs,
    verdicts: Verdicts,
) -> None:
    """Replays one attempt to its end, which the pipeline knows afterwards."""
    pipeline = flow.pipeline
    if (refusal := refusal_of(attempt, profile)) is not None:
        signs.came(sum(map(len, pieces)))
        pipeline.fail(refusal)
        return
    for data in pieces:
        signs.due()
        signs.came(len(data))
        pipeline.feed(data)
        verdicts.settle(flow.checks)
        if pipeline.ended:
            return
    signs.due()
    if attempt.failure is not None:
        pipeline.fail(fault_of(attempt.failure))
    else:
        pipeline.close()
        verdicts.settle(flow.checks)


def refusal_of(attempt: RecordedAttempt, profile: BackendProfile) -> Fault | None:
    """Why there was no reply at all. None if there was one."""
    if attempt.status is None or (attempt.told and attempt.status // 100 != 2):
        if attempt.failure is None:
            return Fault("The recording does not say how this attempt ended.")
        return fault_of(attempt.failure)
    if attempt.status // 100 == 2:
        return None
    words = b"".join(data for _, data in attempt.reads)
    target = target_of(attempt, profile)
    return refused(attempt.status, attempt.answer_headers, words, target, forwards=attempt.forwards)
