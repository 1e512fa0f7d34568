"""DeepSeek 3, R1 and 3.1: special tokens with full-width bars, around a name and a JSON object.

    <｜tool▁calls▁begin｜>
    <｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME      (3 and R1)
    ```json
    {json}
    ```<｜tool▁call▁end｜>
    <｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{json}<｜tool▁call▁end｜>      (3.1)
    <｜tool▁calls▁end｜>

The fence is part of the format. Re-exported templates write ASCII bars and underscores, models mix up singular and
plural.
"""

import re
from functools import partial
from itertools import product
from typing import Final

from proxy.core.markup import sections
from proxy.core.markup.formats import Format, Tier, Tools

_BAR, _JOIN = "[｜|]", "[▁_]"


def _token(*words: str) -> re.Pattern[str]:
    return re.compile(f"<{_BAR}{_JOIN.join(words)}{_BAR}>")


def _name(head: str, label: str, _arguments: str, _tools: Tools) -> str:
    """Returns what stands before the separator, unless that is only the kind of the call."""
    return label if head in ("function", "") else head if label in ("json", "") else ""


_GRAMMAR: Final = sections.SectionGrammar(
    opened=re.compile(
        f"<{_BAR}tool{_JOIN}(?:calls{_JOIN}begin{_BAR}>|call{_JOIN}begin{_BAR}>(?=\\s*(?:<|\\Z)))"
    ),
    call=_token("tool", "calls?", "begin"),
    separator=_token("tool", "sep"),
    prelude=re.compile(r"\s*(?:(?P<label>[^\s`{}<>]{1,200})\s*)?`{0,3}(?:j(?:s(?:on?)?)?)?\s*"),
    called=_token("tool", "call", "end"),
    closed=re.compile(f"<{_BAR}(?:tool{_JOIN}calls{_JOIN}end|end{_JOIN}of{_JOIN}sentence){_BAR}>"),
    name=_name,
    wants_end=True,
)

_TOKENS: Final = ("｜tool▁{}▁begin｜", "|tool▁{}▁begin|", "｜tool_{}_begin｜", "|tool_{}_begin|")

FORMATS: Final = (
    Format(
        "deepseek",
        Tier.ALWAYS,
        tuple(f"<{word.format(number)}>" for word, number in product(_TOKENS, ("calls", "call"))),
        partial(sections.read, _GRAMMAR),
        tuple(f"{join}end{bar}>" for join, bar in product("▁_", "｜|")),
        leftovers=("<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"),
        native=True,
    ),
)
