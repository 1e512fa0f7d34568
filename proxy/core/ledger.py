"""What happened beside the answer: counted oddities, things dropped, remarks for the log.

Nothing is lost silently: whoever drops or mends something says so here, once, and the engine's one summary line per
request carries the counts. The core has no logging of its own; the shell injects something with `debug` and `info`.
"""

from typing import Any, Protocol, Unpack

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


Entries = tuple[dict[str, int], dict[str, int], dict[str, int], RequestFacts, list[str]]


class Ledger:
    """One per request."""

    __slots__ = ("details", "dropped", "facts", "log", "markup", "oddities", "warnings", "work")

    def __init__(self, log: Log | None = None, *, details: bool = True) -> None:
        """`details`: does anybody read what is logged for debugging? Where there is much of it, it is asked first."""
        self.log: Log = log or Silence()
        self.details = details
        self.oddities: dict[str, int] = {}
        self.dropped: dict[str, int] = {}
        self.markup: dict[str, int] = {}
        self.warnings: list[str] = []
        self.facts: RequestFacts = {}
        self.work = Work()
        """What is left of what the request may cost."""

    def entries(self) -> Entries:
        """A copy of what stands here, to come back to should the work be begun again."""
        return (
            self.oddities.copy(),
            self.dropped.copy(),
            self.markup.copy(),
            self.facts.copy(),
            self.warnings.copy(),
        )

    def back_to(self, entries: Entries) -> None:
        *counts, self.facts, warnings = entries
        for now, before in zip((self.oddities, self.dropped, self.markup), counts, strict=True):
            now.clear()
            now.update(before)
        self.warnings[:] = warnings  # others hold the list itself

    @property
    def remarks(self) -> dict[str, dict[str, int]]:
        """What was strange, by its kind, if anything was."""
        if not (self.oddities or self.markup or self.dropped):  # as in nearly every request
            return {}
        kinds = {"oddities": self.oddities, "markup": self.markup, "dropped": self.dropped}
        return {kind: counts for kind, counts in kinds.items() if counts}

    def note(self, **facts: Unpack[RequestFacts]) -> None:
        """Something about the request that its log line tells."""
        self.facts.update(facts)

    def warn(self, remark: str) -> None:
        """Something that the client itself is told beside its answer, once."""
        if remark not in self.warnings:
            self.warnings.append(remark)

    def odd(self, what: str) -> None:
        """The backend said something strange that could be understood or had to be ignored."""
        self.oddities[what] = self.oddities.get(what, 0) + 1

    def found(self, outcome: str, format: str) -> None:
        """The backend's text held something that looked like a tool call; what became of it."""
        what = f"{outcome}:{format}"
        self.markup[what] = self.markup.get(what, 0) + 1

    def drop(self, what: str) -> None:
        """Something of the client's request is not passed on."""
        self.dropped[what] = self.dropped.get(what, 0) + 1
