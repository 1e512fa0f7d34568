"""Functionary 3.2: a recipient on its line, and JSON.

    >>>NAME
    {json}

The prompt ends with the signs, so a reply may begin with the name. They are Python's prompt as well, so this is
optional.
"""

import string
from typing import Final

from proxy.core.markup import bodies, jsonish
from proxy.core.markup.formats import MORE, Block, Format, Recovered, Tier, Tools, Verdict, waiting
from proxy.core.markup.shapes import blanks, literal, maybe, named, shape, signs

_HEADER: Final = shape(
    maybe(literal(">>>")),
    named("name", signs(r"[\w.-]", 200)),
    signs(r"[ \t\r]", 4, 0),
    literal("\n"),
    blanks(8),
)


def _read(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    header = _HEADER.whole.match(text, at)
    if not header or header.end() == len(text):
        return MORE if not ended and _HEADER.begun.match(text, at) else None
    if not text.startswith("{", header.end()):
        return None
    found = jsonish.scan(text, header.end())
    if found.missing:
        going_on = not ended and found.stop == len(text)
        return waiting(tools, [header["name"]], len(text) - at) if going_on else None
    arguments = bodies.object_text(text[header.end() : found.stop])
    return Block(found.stop, (Recovered(header["name"], arguments),)) if arguments is not None else None


FORMATS: Final = (
    Format("functionary", Tier.OPTIONAL, (">>>",), _read, ("}",), first=(*string.ascii_letters, "_")),
)
