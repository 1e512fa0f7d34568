"""Objects of a vendor's reasoning that a stream brings in pieces, put together as one body would have them.

OpenRouter sends one object for each few words of a thought, and checks signatures over whole texts. What is joined is
so much smaller that it is done once, where the pieces are gathered; clients that gathered them by themselves send
tens of thousands in each request, so it may take no more time than they have characters.
"""

from typing import Any

DETAIL_WORDS = ("text", "summary")
"""Where such an object has text that people can read."""
WHOSE = ("type", "index", "id")
"""What pieces of one object have in common."""


def joined(objects: list[Any]) -> list[Any]:
    """The objects with the pieces of one text as one object again; whatever else there is stays as it is."""
    groups: list[list[Any]] = []
    for one in objects:
        if groups and _continues(one, groups[-1][0]):
            groups[-1].append(one)
        else:
            groups.append([one])
    return [group[0] if len(group) == 1 else _whole(group) for group in groups]


def _continues(piece: Any, first: Any) -> bool:
    return (
        isinstance(piece, dict)
        and isinstance(first, dict)
        and any(isinstance(first.get(word), str) for word in DETAIL_WORDS)
        and all(isinstance(piece.get(word), str | None) for word in DETAIL_WORDS)
        and all(piece.get(name) == first.get(name) for name in WHOSE)
    )


def _whole(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    """Of what is no text, the last that was said counts."""
    whole = dict(pieces[0])
    for piece in pieces[1:]:
        whole.update((name, value) for name, value in piece.items() if value is not None)
    for word in DETAIL_WORDS:
        if texts := [text for piece in pieces if isinstance(text := piece.get(word), str)]:
            whole[word] = "".join(texts)
    return whole
