"""What is said of places in a text: sources, mostly. Places are counted from the start of the text."""

from collections.abc import Iterable
from typing import Any

from proxy.core.model import Text

PLACES = ("start_index", "end_index", "index")


def moved(annotation: dict[str, Any], by: int) -> dict[str, Any]:
    """The annotation, where more text stands before its own."""
    if not by:
        return annotation
    return annotation | {name: annotation[name] + by for name in PLACES if type(annotation.get(name)) is int}


def all_annotations(texts: Iterable[Text]) -> list[dict[str, Any]]:
    """The annotations of several texts that become one, with their places moved."""
    found: list[dict[str, Any]] = []
    before = 0
    for text in texts:
        found += [moved(annotation, before) for annotation in text.annotations or ()]
        before += len(text.text)
    return found
