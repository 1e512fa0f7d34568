"""Replaces references by their targets, since most providers read none, except those that lead back to themselves.

Unlike `loosening.inline`, this loses nothing on the way: a reference that cannot be followed is rejected.
"""

import re

from proxy.core import jsontext
from proxy.core.schemas.loosening import BYTES_PER_UNIT, EXPANDING, INLINED_BYTES, INLINED_DEPTH
from proxy.core.schemas.losses import Losses
from proxy.core.schemas.traversal import (
    ANYTHING,
    Path,
    Schema,
    each_inside_at,
    own_part,
    subschemas,
    target_of,
    without,
)
from proxy.core.schemas.unions import ANNOTATIONS, merged

ROOT = "#"
MAX_NODES = 2_000
"""Schemas in the result: as many as a client's own schema may hold."""
FOLLOWING = 10
"""The price of a reference."""
_FOREIGN = re.compile(r"[^A-Za-z0-9_.-]")


def inlined(schema: Schema, losses: Losses, *, recursion: bool) -> Schema:
    """Where `recursion` is read, a schema that leads back to itself becomes a definition; elsewhere it is rejected."""
    return _Inlining(schema, losses, recursion).whole()


class _Inlining:
    def __init__(self, root: Schema, losses: Losses, recursion: bool) -> None:
        self._root = root
        self._schemas = {id(here) for _, here in subschemas(root)}
        self._losses = losses
        self._recursion = recursion
        self._work = losses.work
        self._nodes = self._bytes = 0
        self._names: dict[str, str] = {}
        """The references that have to stay, with the names of their definitions."""

    def whole(self) -> Schema:
        result = self._expanded(self._root, (), (ROOT,))
        definitions: Schema = {}
        while open_ones := [each for each in self._names if self._names[each] not in definitions]:
            for reference in open_ones:
                target = self._target(reference) or {}
                definitions[self._names[reference]] = self._expanded(target, (), (reference,))
        return result | ({"$defs": definitions} if definitions else {})

    def _expanded(self, here: Schema, path: Path, followed: tuple[str, ...]) -> Schema:
        self._nodes += 1
        if self._nodes > MAX_NODES or self._bytes > INLINED_BYTES or len(path) > INLINED_DEPTH:
            self._losses.reject("$ref", path)
            return dict(ANYTHING)
        while "$ref" in here:
            reference, beside = here["$ref"], without(here, "$ref")
            target = self._target(reference)
            if reference in followed:
                return self._kept(reference, beside, path)
            if target is None:
                self._losses.reject("$ref", path)
                target = {}
            followed = (*followed, reference)
            self._work.spend(FOLLOWING + len(followed) // 8)
            here = self._put_together(beside, target)
        here = without(here, "$defs", "definitions")
        own = len(jsontext.dumps(own_part(here)))
        self._bytes += own
        self._work.spend(EXPANDING + len(here) + own // BYTES_PER_UNIT)
        return each_inside_at(here, path, lambda child, there: self._expanded(child, there, followed))

    def _target(self, reference: str) -> Schema | None:
        """Finds a target only where schemas stand, because nothing else was checked."""
        target = target_of(self._root, reference)
        return target if id(target) in self._schemas else None

    def _kept(self, reference: str, beside: Schema, path: Path) -> Schema:
        if not self._recursion or beside.keys() - ANNOTATIONS:
            self._losses.reject("$ref", path)
            return dict(ANYTHING)
        if reference not in self._names:
            stem = _FOREIGN.sub("_", reference.rpartition("/")[2].lstrip("#")) or "root"
            taken = set(self._names.values())
            self._work.spend(len(taken))
            names = (f"{stem}{number or ''}" for number in range(len(taken) + 1))
            self._names[reference] = next(name for name in names if name not in taken)
        return {"$ref": f"#/$defs/{self._names[reference]}"}

    def _put_together(self, beside: Schema, target: Schema) -> Schema:
        """Merges what stands beside a reference, which holds too, with the target. The description beside it wins."""
        inner = without(target, "$defs", "definitions")
        both = merged(beside, inner, self._work)
        return beside | {"allOf": [*beside.get("allOf", ()), inner]} if both is None else both
