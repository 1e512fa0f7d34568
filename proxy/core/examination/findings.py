"""What an examination finds: how a backend answered a question, and a row for each thing that was examined."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from proxy.core.examination.heard import Heard


class Verdict(StrEnum):
    WORKS = "works"
    IGNORED = "ignored"
    """The backend took the request, and did not do what it asked for."""
    REFUSED = "refused"
    UNCLEAR = "cannot tell"
    """The backend failed for another reason, or the model did not obey, which proves nothing."""


@dataclass(frozen=True, slots=True)
class Answer:
    verdict: Verdict
    words: str = ""
    """What was seen. A refusal's are the backend's own."""
    heard: Heard = field(default_factory=Heard)
    remark: str = ""

    @property
    def works(self) -> bool:
        return self.verdict is Verdict.WORKS

    @property
    def fails(self) -> bool:
        return self.verdict in (Verdict.REFUSED, Verdict.IGNORED)


class Standing(StrEnum):
    """How what was seen compares with what the profile assumes."""

    SAME = "same"
    BETTER = "better"
    WORSE = "worse"
    UNKNOWN = "unknown"
    FACT = "fact"
    """Nothing is assumed."""


@dataclass(frozen=True, slots=True)
class ReportRow:
    name: str
    seen: str
    assumed: str = ""
    standing: Standing = Standing.FACT
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the profile, as they should be."""
    remark: str = ""


def written(value: Any) -> str:
    """Writes the value of a profile's field for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, frozenset):
        return ", ".join(sorted(value)) or "none"
    return "none" if value is None else str(value)
