"""The reversible table of tool names, one for each request.

Backends know one flat list of functions named `[A-Za-z0-9_-]{1,64}`. Clients have namespaces, kinds and longer names,
and a call must come back under exactly the name and kind that the client declared. So each tool gets one upstream
name, no two the same, and the name a tool gets depends on as little as possible: backends cache a prompt by its
prefix, and the tools stand at its beginning.
"""

import re
from collections.abc import Collection, Iterable
from hashlib import blake2s
from typing import Final

from proxy.core.masking.redact import shown
from proxy.core.model import ToolKind, ToolName, ToolSpec
from proxy.core.profile import ToolNames

MAX_NAME = 64
"""Characters: OpenAI's limit, and the lowest of all known ones."""
NONE: Final[frozenset[str]] = frozenset()
LISTED = 3
"""Allowed names that a complaint lists."""
HASH_DIGITS = 8
"""Digits that are appended where a name had to be cut or was taken. Should two names agree in them, the next attempt
differs."""

UNNAMED_NAMESPACES = (None, "", "functions")
"""Namespaces that the upstream name leaves out. Codex calls the space of its own tools `functions`: models know
these tools, and call them, by their plain names."""

_LETTER = re.compile(r"[A-Za-z_]")
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")

Key = tuple[ToolName, ToolKind]


class NameTable:
    """`tools` are what the client declares. `only` restricts which of them may be called."""

    __slots__ = ("_by_key", "_by_name", "_declared", "_form", "_permitted")

    def __init__(
        self,
        tools: Iterable[ToolSpec] = (),
        only: Collection[ToolName] | None = None,
        form: ToolNames = "any",
    ) -> None:
        self._form = form
        self._by_key: dict[Key, str] = {}
        self._by_name: dict[str, Key] = {}
        wishes: dict[Key, str] = {}
        for spec in tools:
            wishes[spec.tool, spec.kind] = _wish(spec.tool, form)
        for key, wish in wishes.items():
            if wish == key[0].name and len(wish) <= MAX_NAME:
                self._assign(key, wish)
        # After those that stay as they are, so that nothing takes their names.
        for key, wish in wishes.items():
            if key not in self._by_key:
                self._assign(key, wish)
        self._declared = frozenset(self._by_name) if self._by_name else NONE
        self._permitted = None if only is None else frozenset(self.upstream(tool) for tool in only)

    def copy(self) -> "NameTable":
        """For another request with the same tools, whose history may name others besides."""
        copied = NameTable(form=self._form)
        copied._by_key, copied._by_name = self._by_key.copy(), self._by_name.copy()
        copied._declared, copied._permitted = self._declared, self._permitted
        return copied

    def upstream(self, tool: ToolName, kind: ToolKind = ToolKind.FUNCTION) -> str:
        """Returns the name that the backend sees. A history may name tools that are no longer declared: they get one
        too."""
        known = self._by_key.get((tool, kind))
        return known or self._of_another_kind(tool) or self._assign((tool, kind), _wish(tool, self._form))

    def client(self, upstream: str) -> Key:
        """Returns the client's own name and kind. An unknown name is that of a function, as it stands."""
        return self._by_name.get(upstream) or (ToolName(upstream), ToolKind.FUNCTION)

    def declared(self, upstream: str) -> bool:
        return upstream in self._declared

    def settled(self, upstream: str) -> bool:
        """Is a name that comes in pieces complete? It is declared, and not the beginning of another declared name."""
        return upstream in self._declared and not any(
            other != upstream and other.startswith(upstream) for other in self._declared
        )

    def permits(self, upstream: str) -> bool:
        """Returns False only under a restriction: the client wants no calls, or calls of other tools only."""
        return self._permitted is None or upstream in self._permitted

    def forbids(self, upstream: str) -> str:
        """Says that a call is not permitted, and what is."""
        called = shown(stem(self.client(upstream)[0]))
        if not self._permitted:
            return f"The model called '{called}', which tool_choice none forbids."
        allowed = sorted(stem(self.client(name)[0]) for name in self._permitted)
        named = ", ".join(f"'{shown(name)}'" for name in allowed[:LISTED])
        more = f" and {len(allowed) - LISTED} more" if len(allowed) > LISTED else ""
        return f"The model called '{called}', but tool_choice allows only {named}{more}."

    def space(self, tool: ToolName, kind: ToolKind) -> str | None:
        """The namespace of a tool that can be told apart there by its own name alone. None where it is in none, or
        where the backend's name for it has to be another one."""
        space = tool.namespace
        if space in UNNAMED_NAMESPACES or tool.name.startswith(f"{space}__"):
            return None
        return space if self.is_own(tool, kind) else None

    def is_own(self, tool: ToolName, kind: ToolKind) -> bool:
        """Does the backend know the tool by its own name?"""
        return self.upstream(tool, kind) == stem(tool)

    def _of_another_kind(self, tool: ToolName) -> str | None:
        """Finds the tool under another kind: a history may remember it as what it once was."""
        return next((self._by_key[tool, kind] for kind in ToolKind if (tool, kind) in self._by_key), None)

    def _assign(self, key: Key, wish: str) -> str:
        name = wish
        attempt = 0
        while len(name) > MAX_NAME or name in self._by_name:
            name = f"{wish[: MAX_NAME - HASH_DIGITS - 1]}_{_digest(key, attempt)}"
            attempt += 1
        self._by_key[key] = name
        self._by_name[name] = key
        return name


def stem(tool: ToolName) -> str:
    """Joins namespace and name: this is what the backend sees, unless it would be too long or is taken."""
    return tool.name if tool.namespace in UNNAMED_NAMESPACES else f"{tool.namespace}__{tool.name}"


def _wish(tool: ToolName, form: ToolNames) -> str:
    """Returns the name that the backend would see, if it is free and not too long."""
    word = _FOREIGN.sub("_", stem(tool)) or "_"
    return f"_{word}" if form == "letter_first" and not _LETTER.match(word) else word


def _digest(key: Key, attempt: int) -> str:
    """Hashes the whole key, so that no other key shares the digest for long."""
    tool, kind = key
    text = "\0".join((kind, tool.namespace or "", tool.name, str(attempt)))
    return blake2s(text.encode("utf-8", "surrogatepass"), digest_size=HASH_DIGITS // 2).hexdigest()
