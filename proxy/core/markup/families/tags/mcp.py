"""MiroThinker, and whoever learned it from Cline: tools of MCP servers.

    <use_mcp_tool>
    <server_name>SERVER</server_name>
    <tool_name>NAME</tool_name>
    <arguments>
    {json}
    </arguments>
    </use_mcp_tool>

The wrapper may hold several calls. The server is what the prompt says, so only the tool's name counts.
"""

import re
from functools import partial
from typing import Final

from proxy.core.markup import tagged
from proxy.core.markup.formats import Format, Tier
from proxy.core.markup.shapes import begun, literal, maybe, named, plain, sequence, signs
from proxy.core.markup.tagged import TagGrammar

_OPENED, _CLOSED, _CALLED = plain("<use_mcp_tool>"), plain("</use_mcp_tool>"), plain("</arguments>")
_GAP: Final = signs(r"\s", 64, 0)
_CALL: Final = sequence(
    maybe(literal("<server_name>"), signs(r"[^<>\n]", 64, 0), literal("</server_name>"), _GAP),
    literal("<tool_name>"),
    _GAP,
    named("name", signs(r"[^\s<>]", 200)),
    _GAP,
    literal("</tool_name>"),
    _GAP,
    literal("<arguments>"),
)
_GRAMMAR: Final = TagGrammar(
    re.compile(
        rf"(?P<opened>{_OPENED.whole})|(?P<closed>{_CLOSED.whole})"
        rf"|(?P<call>{_CALL.whole})|(?P<called>{_CALLED.whole})"
    ),
    strict=True,
    begun=begun(_OPENED, _CLOSED, _CALLED, _CALL),
)

FORMATS: Final = (
    Format(
        "mcp",
        Tier.WRAPPED,
        ("<use_mcp_tool>",),
        partial(tagged.read, _GRAMMAR),
        ("</use_mcp_tool>",),
        leftovers=("</use_mcp_tool>",),
    ),
)
