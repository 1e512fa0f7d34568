"""Every kind of fault."""

from proxy.core import errors
from proxy.core.errors import (
    Fault,
)


def families(parent: type[Fault] = Fault) -> list[type[Fault]]:
    """What comes of it in this module; a room may have a kind of its own that never leaves it."""
    children = [child for child in parent.__subclasses__() if child.__module__ == errors.__name__]
    return [kind for child in children for kind in (child, *families(child))]


EVERY = [Fault, *families()]
