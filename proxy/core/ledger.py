"""What happened beside the answer: counted oddities, things dropped, remarks for the log.

Nothing is lost silently: whoever drops or mends something says so here, once, and the engine's one summary line per
request carries the counts. The core has no logging of its own; the shell injects something with `debug` and `info`.
"""

from typing import Any, Protocol, Unpack, cast

from proxy.core.facts import RequestFacts
from proxy.core.work import Work


class Log(Protocol):
    def debug(self, event: str, **fields: Any) -> Any: ...
    def info(self, event: str, **fields: Any) -> Any: ...


class Silence:
    """A log that nobody reads: the default for tests and tools."""

    def debug(self, event: str, **fields: Any) -> None:
        pass

    def info(self, event: str, **fields: Any) -> None:
        pass


Counts = dict[str, int]
Entries = tuple[RequestFacts, dict[str, Counts], list[str]]


class Ledger:
    """One per request."""

    __slots__ = ("details", "facts", "log", "remarks", "warnings", "work")

    def __init__(self, log: Log | None = None, *, details: bool = True) -> None:
        """`details`: does anybody read what is logged for debugging? Where there is much of it, it is asked first."""
        self.log: Log = log or Silence()
        self.details = details
        self.facts: RequestFacts = {}
        self.remarks: dict[str, Counts] = {}
        """What was strange, by its kind, if anything was."""
        self.warnings: list[str] = []
        self.work = Work()
        """What is left of what the request may cost."""

    def entries(self) -> Entries:
        """A copy of what stands here, to come back to should the work be begun again."""
        return self.facts.copy(), _copied(self.remarks), self.warnings.copy()

    def back_to(self, entries: Entries) -> None:
        """All is put right in its place, since others hold it."""
        facts, remarks, self.warnings[:] = entries
        noted = cast(dict[str, Any], self.facts)
        noted.clear()
        noted.update(facts)
        self.remarks.clear()
        self.remarks.update(_copied(remarks))

    @property
    def oddities(self) -> Counts:
        return self.remarks.get("oddities", {})

    @property
    def markup(self) -> Counts:
        return self.remarks.get("markup", {})

    @property
    def dropped(self) -> Counts:
        return self.remarks.get("dropped", {})

    def note(self, **facts: Unpack[RequestFacts]) -> None:
        """Something about the request that its log line tells."""
        self.facts.update(facts)

    def warn(self, remark: str) -> None:
        """Something that the client itself is told beside its answer, once."""
        if remark not in self.warnings:
            self.warnings.append(remark)

    def odd(self, what: str) -> None:
        """The backend said something strange that could be understood or had to be ignored."""
        self._count("oddities", what)

    def found(self, outcome: str, format: str) -> None:
        """The backend's text held something that looked like a tool call; what became of it."""
        self._count("markup", f"{outcome}:{format}")

    def drop(self, what: str) -> None:
        """Something of the client's request is not passed on."""
        self._count("dropped", what)

    def _count(self, kind: str, what: str) -> None:
        counts = self.remarks.setdefault(kind, {})
        counts[what] = counts.get(what, 0) + 1


def _copied(remarks: dict[str, Counts]) -> dict[str, Counts]:
    return {kind: counts.copy() for kind, counts in remarks.items()} if remarks else {}
