"""One thing that an examination looks at, and in which dialects it can be looked at."""

from collections.abc import Callable
from dataclasses import dataclass

from proxy.core.examination.question import Case, Course

CHAT = frozenset({"chat"})
RESPONSES = frozenset({"responses"})
"""The only dialect in which servers differ in this, or in which the profile decides it."""

OPENAI = CHAT | RESPONSES
"""Two languages for the same servers."""


@dataclass(frozen=True, slots=True)
class Aspect:
    name: str
    course: Callable[[Case, str], Course]
    most: int
    """So many questions at most."""
    dialects: frozenset[str] | None = None
    """None: all."""
    of_tools: bool = False
    """Is it only asked of backends that have tools?"""

    def concerns(self, dialect: str) -> bool:
        return self.dialects is None or dialect in self.dialects

    def applies(self, case: Case) -> bool:
        return case.profile.max_tools > 0 or not self.of_tools
