"""Families whose calls are plain JSON behind a token of their own, one line of the table for each:

    TOKEN [{"name": NAME, "arguments": {...}}] END-TOKEN

Where the table has no closers the family has none either: its block ends with its JSON. The second table is optional:
its tokens are words that prose or code uses as well, or there is no token at all.
"""

from functools import partial
from typing import Final

from proxy.core.markup import bodies
from proxy.core.markup.bodies import Markers
from proxy.core.markup.formats import Format, Tier

_WRAPPED: Final = (
    ("granite", Markers(("<|tool_call|>",))),
    ("granite-20b", Markers(("<function_call>",), ("</function_call>",), strict=False)),
    (
        "tool-calls-list",
        Markers(("<tool_calls>",), ("</tool_calls>",)),
    ),  # Jamba, Apriel, Hunyuan A13B, MiniMax M1
    (
        "internlm2",
        Markers(("<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"), ("<|action_end|>",)),
    ),
    ("hermes-tools", Markers(("<tools>",), ("</tools>",), sure=False)),
    ("nemotron", Markers(("<TOOLCALL>",), ("</TOOLCALL>",))),
    ("apertus", Markers(("<|tools_prefix|>",), ("<|tools_suffix|>",), keyed=True)),
    ("gigachat", Markers(("<|function_call|>",))),
    ("cohere", Markers(("<|START_ACTION|>",), ("<|END_ACTION|>",))),
)
_OPTIONAL: Final = (
    ("phi4", Markers(("functools",))),
    ("gigachat-words", Markers(("function call<|role_sep|>",))),
    ("xlam-fence", Markers(("```json", "```tool_call", "```\n"), ("```",), sure=False)),
    ("bare-json", Markers(("{", "[{", "[ {", "[\n"), sure=False, inside=True)),
)

FORMATS: Final = tuple(
    Format(name, tier, form.openers, partial(bodies.read, form), form.closers or ("}", "]"))
    for tier, forms in ((Tier.WRAPPED, _WRAPPED), (Tier.OPTIONAL, _OPTIONAL))
    for name, form in forms
)
