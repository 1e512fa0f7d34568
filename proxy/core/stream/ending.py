"""How a reply ends, by what it has said about its own end.

Success needs proof: a finish reason, or `[DONE]` after an answer and whole calls. A reply that finished with nothing in
it has failed nevertheless (`empty_reply`).
"""

from proxy.core.errors import Fault
from proxy.core.events import STOP, Ending, Finish, PartKind, ReplyEnded
from proxy.core.ledger import Ledger
from proxy.core.model import Usage
from proxy.core.stream.empty_reply import fault_if_empty
from proxy.core.stream.parts import Calls

ENDINGS = {Finish.STOP: Ending.COMPLETED, Finish.LENGTH: Ending.MAX_TOKENS, Finish.FILTER: Ending.FILTERED}


class EndingEvidence:
    """What one reply has shown of its end. The assembler reports what happens; only this class decides what that
    means."""

    __slots__ = ("_ledger", "finish", "forbidden", "started", "usage")

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.finish: Finish | None = None
        """Why the model stopped, once it has said so."""
        self.usage: Usage | None = None
        self.started: set[PartKind] = set()
        """The kinds of parts that the client has seen start."""
        self.forbidden = ""
        """A sentence about the first call that was dropped because tool_choice does not allow it."""

    def take_finish(self, finish: Finish) -> bool:
        """Notes why the model stopped. Returns True the first time."""
        if self.finish is None:
            self.finish = finish
            return True
        if self.finish is STOP and finish is not STOP:
            self.finish = finish  # what was cut is never complete
        else:
            self._ledger.odd("finish_repeated")
        return False

    def at_end_mark(self, calls: Calls) -> Finish | None:
        """Returns the finish when the backend says that nothing follows; None if the reply proves none."""
        if self.finish is None and self.started and calls.all_whole():
            self._ledger.odd("finish_missing")
            return STOP
        return self.finish

    def failed(self, fault: Fault) -> ReplyEnded:
        return ReplyEnded(Ending.FAILED, self.usage, fault, self.forbidden)

    def concluded(self, finish: Finish, calls: Calls) -> ReplyEnded:
        """Returns the ending of a reply whose bytes and parts have all ended."""
        proved = self.finish is not None and not calls.all
        if finish is STOP:
            fault = fault_if_empty(self.started, self._ledger, proved, self.forbidden)
            if fault is not None:
                return self.failed(fault)
        return ReplyEnded(ENDINGS[finish], self.usage, forbidden=self.forbidden)
