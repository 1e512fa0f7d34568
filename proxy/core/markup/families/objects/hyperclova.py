"""HyperCLOVA X: a recipient in words, and a list of calls.

     -> tool/function_call
    [{"name": NAME, "arguments": {...}}]<|im_end|>

The words count at the very start of a reply, where the prompt ends with the role, and right behind the role.
"""

from functools import partial
from typing import Final

from proxy.core.markup import bodies
from proxy.core.markup.bodies import Markers
from proxy.core.markup.formats import Format, Tier

_WORDS: Final = "-> tool/function_call"
_ROLE: Final = "<|im_start|>assistant"
_OPENERS: Final = (f"{_ROLE} {_WORDS}", f"<|im_end|>\n{_ROLE} {_WORDS}", f"<|im_end|>{_ROLE} {_WORDS}")
_LIST: Final = Markers((*_OPENERS, _WORDS))

FORMATS: Final = (
    Format(
        "hyperclova",
        Tier.WRAPPED,
        _OPENERS,
        partial(bodies.read, _LIST),
        ("}", "]"),
        first=(_WORDS,),
        leftovers=("<|im_end|>",),
    ),
)
