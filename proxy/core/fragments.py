"""Joins the pieces of a vendor's reasoning objects in a stream to what a whole body would have.

OpenRouter sends one object for each few words of a thought, and checks signatures over whole texts. They are joined
once, where they are gathered, because the result is much smaller. Clients that gather the pieces themselves send tens
of thousands in each request, so the time must be linear in their characters.
"""

from typing import Any

DETAIL_WORDS = ("text", "summary")
"""The fields of such an object that hold readable text."""
WHOSE = ("type", "index", "id")
"""The fields that all pieces of one object have in common."""


def joined(objects: list[Any]) -> list[Any]:
    """Returns the objects with the pieces of each text as one object; anything else stays as it is."""
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
    """Joins the pieces. Of a field that is no text, the last value counts."""
    whole = dict(pieces[0])
    for piece in pieces[1:]:
        whole.update((name, value) for name, value in piece.items() if value is not None)
    for word in DETAIL_WORDS:
        if texts := [text for piece in pieces if isinstance(text := piece.get(word), str)]:
            whole[word] = "".join(texts)
    return whole
