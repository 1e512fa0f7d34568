r"""Qwen 3 Coder and its kin (Qwen 3.5, MiMo, Nemotron 3, Step 3.5), Seed-OSS, and Llama's function tag.

    <tool_call>
    <function=NAME>
    <parameter=KEY>
    value
    </parameter>
    </function>
    </tool_call>

Each tag of the wrapper may be missing: the model often forgets the opener after a sentence of prose and still writes
the closer. A template puts one newline at each end of a value, all else is data and nothing is escaped. Seed-OSS has
another wrapper, and its template puts no newlines around a value. Llama writes `<function=NAME>{json}</function>`: the
same with all arguments as one object. A tag may have lost its `>`, then its line ends it, or the object that follows.
Right behind the wrapper, `<function=` may have lost its sign: `<function NAME>`, `<functionNAME>`.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from proxy.core.markup import tagged
from proxy.core.markup.formats import Format, Tier
from proxy.core.markup.shapes import (
    assigned,
    attributes,
    begun,
    either,
    literal,
    plain,
    sequence,
    signs,
    value,
)
from proxy.core.markup.tagged import TagGrammar

_ENDS_OF_TURN: Final = either(*map(literal, ("<|eom_id|>", "<|eot_id|>", "<|im_end|>")))
_TAG_END: Final = r"(?:>|(?=[\n<]))"
_NAME: Final = either(assigned(value()), attributes(literal("name"), value()))


def _grammar(wrapper: str, strip: Callable[[str], str]) -> TagGrammar:
    bare = sequence(signs(r"\s", 1, 0), signs(r"[\w.-]", 200))
    unsigned = rf"(?:(?<=<{wrapper}><function)|(?<=<{wrapper}>\n<function)){bare.whole}(?=>)"
    opened, closed = plain(f"<{wrapper}>"), plain(f"</{wrapper}>")
    called, given = plain("</function>"), plain("</parameter>")
    return TagGrammar(
        re.compile(
            rf"(?P<opened>{opened.whole})|(?P<closed>{closed.whole}|{_ENDS_OF_TURN.whole})"
            rf"|(?P<call><function(?P<name>{_NAME.whole}|{unsigned})(?:{_TAG_END}|(?={{)))|(?P<called>{called.whole})"
            rf"|(?P<parameter><parameter(?P<key>{_NAME.whole}){_TAG_END})|(?P<given>{given.whole})"
        ),
        strip=strip,
        begun=begun(
            *(opened, closed, called, given, _ENDS_OF_TURN),
            sequence(literal("<function"), either(_NAME, bare)),
            sequence(literal("<parameter"), _NAME),
        ),
    )


_QWEN: Final = _grammar("tool_call", tagged.one_newline)
_SEED: Final = _grammar("seed:tool_call", tagged.paired_newlines)

FORMATS: Final = (
    Format(
        "qwen-xml",
        Tier.ALWAYS,
        ("<tool_call>", "<function="),
        partial(tagged.read, _QWEN),
        ("</function>", "</tool_call>"),
        leftovers=("</tool_call>", "</tool_calls>", "</function>"),
    ),
    Format(
        "seed-oss",
        Tier.ALWAYS,
        ("<seed:tool_call>",),
        partial(tagged.read, _SEED),
        ("</function>", "</seed:tool_call>"),
        leftovers=("</seed:tool_call>",),
    ),
)
