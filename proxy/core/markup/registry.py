"""Which formats there are, and which of them the proxy looks for in one reply.

It looks for all of them whatever the model is called: models are served under any name, and write in each other's
formats.
"""

from collections.abc import Set
from functools import lru_cache
from typing import Final

from proxy.core.markup.families import end_of_turn, plural
from proxy.core.markup.families.notations import arrows, gemma, pythonic
from proxy.core.markup.families.objects import (
    functionary,
    harmony,
    hermes,
    hyperclova,
    inkling,
    llama,
    mistral,
    plain_json,
)
from proxy.core.markup.families.tags import (
    dsml,
    elements,
    glm,
    grok,
    invoke,
    mcp,
    minimax_m3,
    qwen,
    solar2,
    step,
)
from proxy.core.markup.families.tokens import deepseek, kimi, plamo, solar
from proxy.core.markup.formats import Format, Tier, Tools
from proxy.core.markup.openers import Openers
from proxy.core.markup.stage import MarkupSettings
from proxy.core.tools.prepare import Prepared

FAMILIES: Final = (
    qwen,
    hermes,
    glm,
    dsml,
    deepseek,
    kimi,
    solar,
    solar2,
    plamo,
    mistral,
    arrows,
    invoke,
    grok,
    mcp,
    minimax_m3,
    harmony,
    gemma,
    step,
    pythonic,
    plural,
    plain_json,
    hyperclova,
    functionary,
    end_of_turn,
    llama,
    inkling,
    elements,
)
"""The families in the order of asking: the first of two formats that share an opener wins if it finds a block."""

FORMATS: Final[tuple[Format, ...]] = tuple(format for family in FAMILIES for format in family.FORMATS)
NAMES: Final = frozenset(format.name for format in FORMATS)


def check(names: Set[str]) -> None:
    """Raises ValueError, in one line, for names of no format."""
    if unknown := sorted(names - NAMES):
        raise ValueError(f"no markup format {unknown[0]!r}; there are {', '.join(sorted(NAMES))}")


def active(also: Set[str] = frozenset(), without: Set[str] = frozenset()) -> tuple[Format, ...]:
    """Returns all formats that are not optional, and the optional ones named in `also`, but none that is named in
    `without`."""
    return tuple(
        format
        for format in FORMATS
        if format.name not in without and (format.tier is not Tier.OPTIONAL or format.name in also)
    )


def for_reply(
    prepared: Prepared, *, on: bool, also: frozenset[str], without: frozenset[str]
) -> MarkupSettings | None:
    """Says what to look for in the reply to a request: nothing where no tool may be called."""
    if not prepared.tools:
        return None
    schemas = {tool.name: tool.parameters for tool in prepared.tools if prepared.names.permits(tool.name)}
    found = openers(also, without) if on and schemas else None
    return MarkupSettings(found, Tools(schemas)) if found else None


@lru_cache(maxsize=32)
def openers(also: frozenset[str], without: frozenset[str]) -> Openers | None:
    """Compiles the openers once for each choice of formats that backends are configured with: before the first request,
    as it takes 16 ms."""
    formats = active(also, without)
    return Openers(formats) if formats else None
