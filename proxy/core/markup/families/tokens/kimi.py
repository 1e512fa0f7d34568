"""Kimi K2: special tokens around an id and the arguments.

    <|tool_calls_section_begin|>
    <|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{json}<|tool_call_end|>
    <|tool_calls_section_end|>

The tokens come in singular and plural, with blanks around them, without the section, without the ends, or at the start
of a reply without all that stood before the id. The model copies the ids that it finds in the history, where clients
have put other ones: `functions_NAME_0`, `functionsNAME0`, an id like OpenAI's, the counter alone. If no name is in it,
the keys of the arguments tell the tool, if they fit only one.

Kimi K3 has tags made of tokens, whose attributes are escaped as in HTML:

    <|open|>tools<|sep|><|open|>call tool="NAME" index="0"<|sep|>
    <|open|>argument key="KEY" type="TYPE"<|sep|>value<|close|>argument<|sep|>
    <|close|>call<|sep|><|close|>tools<|sep|>
"""

import html
import re
from functools import partial
from typing import Final

from proxy.core import jsontext
from proxy.core.markup import sections, tagged, values
from proxy.core.markup.formats import Format, Tier, Tools
from proxy.core.markup.values import Unknown

_NAMELESS: Final = re.compile(r":?\d+|call_\d+|(?:call|toolu|chatcmpl-tool)[_-](?=\w*\d)\w{6,}")
_PREFIX: Final = re.compile(r"functions[._-]?")
_NUMBER: Final = re.compile(r"(?:[:._-]|(?<!\d))\d++\Z")


def _name(head: str, _label: str, arguments: str, tools: Tools) -> str:
    if known := tools.declared(head):
        return known
    unnumbered = _NUMBER.sub("", head)
    bare = _PREFIX.sub("", unnumbered, count=1) if _PREFIX.match(head) else unnumbered
    if known := next((name for name in (unnumbered, bare) if name in tools.schemas), None):
        return known
    if not _NAMELESS.fullmatch(head):
        return bare
    keys = set(jsontext.loads(arguments))
    fitting = [name for name, schema in tools.schemas.items() if values.fit(keys, schema)]
    return fitting[0] if len(fitting) == 1 else ""


_K2: Final = sections.SectionGrammar(
    opened=re.compile(r"<\|tool_calls?_section_begin\|>"),
    call=re.compile(r"<\|tool_calls?_begin\|>"),
    separator=re.compile(r"<\|tool_calls?_arguments?_begin\|>"),
    prelude=re.compile(r"\s*(?P<label>)"),
    called=re.compile(r"<\|tool_calls?_end\|>"),
    closed=re.compile(r"<\|tool_calls?_section_end\|>"),
    name=_name,
)


def _label(about: str) -> str:
    return html.unescape(tagged.label(about))


def _unknown(about: str) -> Unknown:
    return Unknown.TEXT if tagged.attributes(about).get("type", "string") == "string" else Unknown.JSON


_ABOUT: Final = r"(?:\s{1,4}\w{1,20}=\"[^\"\n]{0,300}\"){1,4}\s{0,4}"
_K3: Final = tagged.TagGrammar(
    re.compile(
        r"(?P<opened><\|open\|>\s?tools\s?<\|sep\|>)"
        r"|(?P<closed><\|close\|>\s?tools\s?<\|sep\|>)"
        rf"|(?P<call><\|open\|>\s?call(?P<name>{_ABOUT})<\|sep\|>)"
        r"|(?P<called><\|close\|>\s?call\s?<\|sep\|>)"
        rf"|(?P<parameter><\|open\|>\s?argument(?P<key>{_ABOUT})<\|sep\|>)"
        r"|(?P<given><\|close\|>\s?argument\s?<\|sep\|>)"
        r"|(?P<stray><\|sep\|>)"
    ),
    strict=True,
    may_stay_open=True,
    begun=re.compile(
        r"<(?:\|(?:[a-z]{0,5}|(?:open|close)\||(?:open|close)\|>\s?[a-z]{0,8}"
        r"(?:\s{1,4}\w{1,20}=\"[^\"\n]{0,300}\"){0,4}\s{0,4}(?:\w{1,20}(?:=(?:\"[^\"\n]{0,300})?)?)?"
        r"(?:<(?:\|[sep]{0,3}\|?)?)?)?)?\Z"
    ),
    label=_label,
    unknown=_unknown,
)

FORMATS: Final = (
    Format(
        "kimi-k2",
        Tier.ALWAYS,
        (
            "<|tool_calls_section_begin|>",
            "<|tool_call_section_begin|>",
            "<|tool_call_begin|>",
            "<|tool_calls_begin|>",
        ),
        partial(sections.read, _K2),
        ("_end|>",),
        first=("functions.",),
        leftovers=("<|tool_call_end|>", "<|tool_calls_section_end|>"),
        native=True,
    ),
    Format(
        "kimi-k3",
        Tier.WRAPPED,
        ("<|open|>tools<|sep|>", "<|open|> tools"),
        partial(tagged.read, _K3),
        ("<|close|>tools<|sep|>",),
        leftovers=("<|close|>tools<|sep|>",),
    ),
)
