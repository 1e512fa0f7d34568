"""A model's own proofs of its calls: Gemini refuses a call that comes back without its signature.

Clients that know of them carry them in `extra_content`, as they do with Google's own Chat endpoint; for all others the
proxy remembers them (`recall`).
"""

from typing import Any

from proxy.core.events import Called
from proxy.core.model import Reasoning, ReplyPart


class Proofs:
    """What was said of a reply's calls beside them, part by part."""

    __slots__ = ("_by_id", "_signatures")

    def __init__(self) -> None:
        self._by_id: dict[str, Any] = {}
        """Those of a Chat backend, which names the call; they go on as they came."""
        self._signatures: list[Any] = []
        """Those of Google belong to what follows them."""

    def learn(self, part: ReplyPart) -> None:
        said = part.extras if isinstance(part, Reasoning) else {}
        self._signatures = said.get("google", {}).get("signatures", [])
        for proof in said.get("chat", {}).get("proofs", ()):
            self._by_id[proof["id"]] = proof["extra_content"]

    def of(self, call: Called) -> Any:
        """The `extra_content` of a call that starts now; None if nothing is to be proved."""
        if call.backend_id in self._by_id:
            return self._by_id[call.backend_id]
        if self._signatures:
            return {"google": {"thought_signature": self._signatures[0]["signature"]}}
        return None
