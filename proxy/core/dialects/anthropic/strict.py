"""How many strict tools one request may have: the API makes one grammar of them all, and refuses one too large."""

from proxy.core.schemas import strictness
from proxy.core.schemas.traversal import Schema, subschemas

MAX_TOOLS = 20


class Allowance:
    """What is left of a request's limits."""

    def __init__(self) -> None:
        self._tools = MAX_TOOLS
        self._optional = strictness.MAX_OPTIONAL
        self._unions = strictness.MAX_UNIONS

    def takes(self, schema: Schema) -> bool:
        """Can one more tool's schema be enforced? Counts it if so."""
        if not self._tools or not strictness.qualifies(schema):
            return False
        every = [inner for _, inner in subschemas(schema)]
        optional = self._optional - sum(map(strictness.optional_properties, every))
        unions = self._unions - sum(map(strictness.is_union, every))
        if optional < 0 or unions < 0:
            return False
        self._tools, self._optional, self._unions = self._tools - 1, optional, unions
        return True
