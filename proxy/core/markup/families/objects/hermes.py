"""Hermes, Qwen 2.5 and 3, LongCat, K2 Horizon, Ernie, Granite 4, Reka, QwQ: JSON between two tags.

    <tool_call>
    {"name": NAME, "arguments": {...}}
    </tool_call>

An object may also be {NAME: {...}}, if that is a declared name. One pair of tags may hold an array of calls, as Granite
3 writes them, or several objects. The closer may be missing at the end of the text, since the JSON itself shows that it
is whole.
"""

from functools import partial
from typing import Final

from proxy.core.markup import bodies
from proxy.core.markup.bodies import Markers, Objects
from proxy.core.markup.formats import Format, Tier

_ENDS_OF_TURN: Final = ("<|im_end|>", "<|eom_id|>", "<|eot_id|>", "<|endoftext|>")

_HERMES: Final = Markers(
    ("<tool_call>",),
    ("</tool_call>", "</tool_calls>", "</function>", *_ENDS_OF_TURN),
    strict=False,
    objects=Objects.EITHER,
)
_LONGCAT: Final = Markers(("<longcat_tool_call>",), ("</longcat_tool_call>", *_ENDS_OF_TURN), strict=False)
_IFM: Final = Markers(("<ifm|tool_call>",), ("</ifm|tool_call>",))

FORMATS: Final = tuple(
    Format(name, Tier.ALWAYS, form.openers, partial(bodies.read, form), form.closers, leftovers=form.closers)
    for name, form in (("hermes", _HERMES), ("longcat", _LONGCAT), ("ifm-json", _IFM))
)
