r"""Qwen 3 Coder and its kin (Qwen 3.5, MiMo, Nemotron 3, Step 3.5), Seed-OSS, and Llama's function tag.

    <tool_call>
    <function=NAME>
    <parameter=KEY>
    value
    </parameter>
    </function>
    </tool_call>

Each tag of the wrapper may be missing: the model often forgets the opener after a sentence of prose and still writes
the closer. A template puts one newline at each end of a value, all else is data and nothing is escaped. Seed-OSS
differs in the wrapper only. Llama writes `<function=NAME>{json}</function>`: the same with all arguments as one object.
A tag may have lost its `>`, then its line ends it, or the object that follows.
"""

import re
from functools import partial
from typing import Final

from proxy.core.markup import tagged
from proxy.core.markup.formats import Format, Tier
from proxy.core.markup.tagged import TagGrammar

_ENDS_OF_TURN: Final = r"<\|(?:eom_id|eot_id|im_end)\|>"
_TAG_END: Final = r"(?:>|(?=[\n<]))"


def _grammar(wrapper: str) -> TagGrammar:
    return TagGrammar(
        re.compile(
            rf"(?P<opened><{wrapper}\s*>)"
            rf"|(?P<closed></{wrapper}\s*>|{_ENDS_OF_TURN})"
            rf"|(?P<call><function(?P<name>\s*=[^<>\n{{]{{1,200}}|\s+name\s*=[^<>\n{{]{{1,200}})(?:{_TAG_END}|(?={{)))"
            r"|(?P<called></function\s*>)"
            rf"|(?P<parameter><parameter(?P<key>\s*=[^<>\n]{{1,200}}|\s+name\s*=[^<>\n]{{1,200}}){_TAG_END})"
            r"|(?P<given></parameter\s*>)"
        ),
        strip=tagged.one_newline,
    )


_QWEN: Final = _grammar("tool_call")
_SEED: Final = _grammar("seed:tool_call")

FORMATS: Final = (
    Format(
        "qwen-xml",
        Tier.ALWAYS,
        ("<tool_call>", "<function="),
        partial(tagged.read, _QWEN),
        ("</function>", "</tool_call>"),
    ),
    Format(
        "seed-oss",
        Tier.ALWAYS,
        ("<seed:tool_call>",),
        partial(tagged.read, _SEED),
        ("</function>", "</seed:tool_call>"),
    ),
)
