"""What a refusal teaches: a table for each language, `text → change of the profile`.

Before the client has seen a byte, a request that was refused in words of this table is sent once more, as the changed
profile has it. Whoever asks keeps the changed profile for that backend and model, and takes no row twice for one
request. So a URL keeps working when a vendor changes its mind, and an unknown server is learned by using it.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from proxy.core.capabilities import BackendProfile
from proxy.core.outbound.chat_complaint import MAX_WORDS


@dataclass(frozen=True, slots=True)
class Lesson:
    row: str
    profile: BackendProfile
    lasting: bool = True
    """Is it true of the model, or only of this conversation?"""


Change = Callable[[BackendProfile, re.Match[str]], BackendProfile]
"""Gets the profile and what matched; gives back an equal profile if there is nothing to change."""


class Row(NamedTuple):
    name: str
    pattern: re.Pattern[str]
    change: Change
    lasting: bool = True


def learn(
    rows: Sequence[Row], profile: BackendProfile, message: str, learned: Collection[str] = ()
) -> Lesson | None:
    """The first row, apart from those `learned` before, that matches the refusal and changes something."""
    message = message[:MAX_WORDS]
    for row in rows:
        if row.name not in learned and (match := row.pattern.search(message)):
            changed = row.change(profile, match)
            if changed != profile:
                return Lesson(row.name, changed, row.lasting)
    return None


def advice(message: str) -> str | None:
    """What the operator has to do, where no change of the request can help."""
    return next((words for pattern, words in _ADVICE if pattern.search(message[:MAX_WORDS])), None)


# ── the words of a table ───────────────────────────────────────────────────────────────────────────────────────


def says(pattern: str) -> re.Pattern[str]:
    """A backend may repeat a whole prompt, or mean ill: no gap in a pattern is without a limit, nor a number."""
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


def setting(**changes: Any) -> Change:
    return lambda profile, _: replace(profile, **changes)


_ADVICE = (
    (
        says(r"requires --enable-auto-tool-choice|--tool-call-parser"),
        "start the server with --enable-auto-tool-choice and a --tool-call-parser for this model",
    ),
    (says(r"does not support tools"), "this model cannot call tools; choose one that can"),
)
