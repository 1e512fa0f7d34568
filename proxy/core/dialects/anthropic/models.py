"""What the models behind the Messages API take: a row for each generation, found by the model's name.

Nothing here is asked of the server, which names a refused field but never says what it would take instead. A model
that no row knows is taken for one of the newest, since those refuse the most.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Thinking = Literal["adaptive", "enabled", "disabled", "between_tools"]
Forcing = Literal["always", "unless_enabled", "never"]
LateSystem = Literal["yes", "not_after_results", "no"]

MODELS_AT_A_TIME = 256
"""Their traits are remembered by their names: to look at all rows takes a fifteenth of a short request."""

LADDER = ("minimal", "low", "medium", "high", "xhigh", "max")
"""The words for effort, from less to more."""
_TO_MAX = ("low", "medium", "high", "xhigh", "max")

_ADAPTIVE: frozenset[Thinking] = frozenset({"adaptive"})
_SWITCHED: frozenset[Thinking] = frozenset({"adaptive", "disabled"})
_BUDGETED: frozenset[Thinking] = frozenset({"enabled", "disabled"})


@dataclass(frozen=True, slots=True)
class Traits:
    """The defaults are what the newest have in common."""

    name: str
    """A model's name goes on like this after `claude-`, up to what only dates or places it."""
    thinking: frozenset[Thinking] = _ADAPTIVE
    """`thinking` may have these types. Without any, the field itself is unknown."""
    thinks_unasked: bool = True
    efforts: tuple[str, ...] = _TO_MAX
    """The words of `output_config.effort`."""
    samples: bool = False
    """Does it take temperature and top_p?"""
    forcing: Forcing = "always"
    """Can it be forced to call a tool? Not everywhere while it thinks by a budget, and some models never."""
    late_system: LateSystem = "yes"
    """May messages of the role `system` stand in the conversation?"""
    formats: bool = True
    """Does it take the schema of its answer?"""
    max_tokens: int = 128_000
    """The most tokens of an answer. The proxy sends this limit where the client sets none."""
    capped: bool = True
    """Is that known to be the most, so that a higher wish would be refused?"""

    def limit(self, wanted: int | None) -> int:
        most = wanted or self.max_tokens
        return min(most, self.max_tokens) if self.capped else most


def _old(
    name: str,
    max_tokens: int,
    *,
    thinks: bool = True,
    formats: bool = False,
    efforts: tuple[str, ...] = (),
) -> Traits:
    """Describes a model before 4.6, which thinks by a budget, if at all."""
    return Traits(
        name,
        thinking=_BUDGETED if thinks else frozenset(),
        thinks_unasked=False,
        efforts=efforts,
        samples=True,
        forcing="unless_enabled",
        late_system="no",
        formats=formats,
        max_tokens=max_tokens,
    )


_BY_WISH: frozenset[Thinking] = frozenset({"adaptive", "enabled", "disabled"})
_EFFORTS_OF_4_6 = ("low", "medium", "high", "max")

NEWEST = Traits("opus-5-5", forcing="never")

TRAITS = (
    *(Traits(name, forcing="never") for name in ("fable-5-1", "fable-5-2", "mythos-5-1", "mythos-5-2")),
    Traits("fable-5"),
    Traits("mythos-5"),
    NEWEST,
    Traits("sonnet-5-5", thinking=frozenset({"adaptive", "between_tools"}), forcing="never"),
    Traits("haiku-5-5", thinking=_SWITCHED, late_system="not_after_results"),
    Traits("opus-5", thinking=_SWITCHED),
    Traits("sonnet-5", thinking=_SWITCHED, late_system="no"),
    Traits("opus-4-8", thinking=_SWITCHED, thinks_unasked=False),
    Traits("opus-4-7", thinking=_SWITCHED, thinks_unasked=False, late_system="no"),
    *(
        Traits(
            name,
            thinking=_BY_WISH,
            thinks_unasked=False,
            efforts=_EFFORTS_OF_4_6,
            samples=True,
            forcing="unless_enabled",
            late_system="no",
        )
        for name in ("opus-4-6", "sonnet-4-6")
    ),
    _old("opus-4-5", 64_000, formats=True, efforts=("low", "medium", "high")),
    _old("sonnet-4-5", 64_000, formats=True),
    _old("haiku-4-5", 64_000, formats=True),
    _old("opus-4-1", 32_000, formats=True),
    _old("opus-4", 32_000),
    _old("sonnet-4", 64_000),
    _old("3-7", 64_000),
    _old("3-5", 8_192, thinks=False),
    _old("3", 4_096, thinks=False),
)

FOREIGN = Traits(
    "",
    thinking=frozenset(),
    thinks_unasked=False,
    efforts=(),
    samples=True,
    late_system="no",
    formats=False,
    max_tokens=4_096,
    capped=False,
)
"""Another vendor's model on a server that speaks this dialect."""

_NOT_A_LATER_VERSION = r"(?!-?\d{1,2}(?!\d))"
"""`opus-5-6` is no `opus-5`, but `opus-5-20260201` is one."""


@lru_cache(MODELS_AT_A_TIME)
def traits_of(model: str) -> Traits:
    """Finds a model by any name it goes by: clouds put their own words before it, and routers write 4.6 for 4-6."""
    _, known, rest = model.lower().replace(".", "-").rpartition("claude-")
    if not known:
        return FOREIGN
    return next((row for row in TRAITS if re.match(row.name + _NOT_A_LATER_VERSION, rest)), NEWEST)
