"""A stage that holds the answer against the form that was asked for, where the backend does not enforce it.

A breach becomes a warning beside the answer, and is counted; if the tenant's rules say so, the reply fails. Calls are
no answer: the one that is asked for comes later.
"""

from collections.abc import Callable

from proxy.core.errors import Unfit
from proxy.core.events import Ending, Event, PartEnded, ReplyEnded
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Refusal, Text
from proxy.core.sink import Attach, Sink

BREACH = "unfit_answer"
"""The count of such answers, and the code of the fault."""

FindProblem = Callable[[str], str | None]
"""Says what is wrong with an answer."""


def answer_form(
    find_problem: FindProblem, ledger: Ledger, *, enforced: bool, on_breach: Callable[[], None]
) -> Attach:
    """Makes the stage for one reply. `on_breach` is told of a breach as well."""

    def stage(sink: Sink) -> Sink:
        emit = sink.feed
        texts: list[str] = []
        is_answer = True

        def feed(event: Event) -> None:
            nonlocal is_answer
            match event:
                case PartEnded(Text() as said):
                    texts.append(said.text)
                case PartEnded(Call() | Refusal()):
                    is_answer = False
                case ReplyEnded(Ending.COMPLETED) if is_answer and texts:
                    if (problem := find_problem("".join(texts))) is not None:
                        on_breach()
                        event = _judged(event, problem, ledger, enforced)
                case _:  # thoughts, and replies that are no whole answers
                    pass
            emit(event)

        return Sink(feed, sink.delta)

    return stage


def _judged(ended: ReplyEnded, problem: str, ledger: Ledger, enforced: bool) -> ReplyEnded:
    ledger.odd(BREACH)
    words = f"The answer does not have the form that was asked for, and that the backend does not enforce: {problem}."
    if enforced:
        return ReplyEnded(Ending.FAILED, ended.usage, Unfit(f"{words} Ask again.", code=BREACH))
    ledger.warn(f"{BREACH}: {words}")
    return ended
