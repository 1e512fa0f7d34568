"""Calls as Python writes them, between two tokens.

    LFM2:      <|tool_call_start|>[f(a=1), g()]<|tool_call_end|>        (or a JSON array)
    OLMo 3:    <function_calls>
               f(a=1)
               g()
               </function_calls>
    Llama 4:   <|python_start|>[f(a=1)]<|python_end|>
    others:    [f(a=1), g()]                                            (optional: nothing tells it from a list)

A list in brackets shows that it is whole, so its closer may be missing at the end of the text. LFM2 may write the list
and its closer twice. `<function_calls>` is Anthropic's wrapper as well: what follows it decides.
"""

from functools import partial
from typing import Final

from proxy.core.markup import expressions
from proxy.core.markup.expressions import ListGrammar
from proxy.core.markup.formats import Format, Tier

_FORMS: Final = (
    ("lfm2", Tier.WRAPPED, ListGrammar(("<|tool_call_start|>",), ("<|tool_call_end|>",), echoes=True)),
    ("olmo3", Tier.WRAPPED, ListGrammar(("<function_calls>",), ("</function_calls>",))),
    ("llama4", Tier.WRAPPED, ListGrammar(("<|python_start|>",), ("<|python_end|>",))),
    ("pythonic", Tier.OPTIONAL, ListGrammar(("[",))),
)

FORMATS: Final = tuple(
    Format(
        name,
        tier,
        form.openers,
        partial(expressions.read, form),
        form.closers or ("]",),
        leftovers=form.closers,
    )
    for name, tier, form in _FORMS
)
