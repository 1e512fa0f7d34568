"""A model's own proofs of its calls: Gemini refuses a call that comes back without its signature.

Clients that know of proofs carry them in `extra_content`, as with Google's own Chat endpoint. For all others the proxy
remembers them (see `memory.reasoning`).
"""

from typing import Any

from proxy.core.events import Called
from proxy.core.extras import GOOGLE, CallProof, proof_extras, proofs_in, signature_extras, signatures_in
from proxy.core.model import Part, Reasoning, ReplyPart

MEMBER = "extra_content"
SIGNATURE = "thought_signature"


def read_proof(call: dict[str, Any], call_id: str) -> list[Part]:
    """The proof that a client sends with a call, as what the model thought before it. It does not say which model that
    was, and clients know their models by other names than backends do."""
    content = call.get(MEMBER)
    if not isinstance(content, dict) or not content:
        return []
    extras = proof_extras(CallProof(call_id, content))
    google = content.get(GOOGLE)
    signature = google.get(SIGNATURE) if isinstance(google, dict) else None
    if isinstance(signature, str) and signature:
        extras |= signature_extras(signature)
    return [Reasoning("", extras)]


class Proofs:
    """Follows a reply part by part, and knows the proof of each call that starts."""

    __slots__ = ("_by_id", "_signatures")

    def __init__(self) -> None:
        self._by_id: dict[str, Any] = {}
        """Proofs of a Chat backend, by its ids of the calls. They are sent on as they came."""
        self._signatures: list[Any] = []
        """Google's signatures belong to the part that follows."""

    def learn(self, part: ReplyPart) -> None:
        extras = part.extras if isinstance(part, Reasoning) else {}
        self._signatures = signatures_in(extras)
        for proof in proofs_in(extras):
            self._by_id[proof.call_id] = proof.content

    def of(self, call: Called) -> Any:
        """The `extra_content` of a call that starts now; None if it has no proof."""
        if call.backend_id in self._by_id:
            return self._by_id[call.backend_id]
        if self._signatures:
            return {GOOGLE: {SIGNATURE: self._signatures[0]["signature"]}}
        return None


def proven(proof: Any) -> dict[str, Any]:
    """The member of a call that holds its proof."""
    return {} if proof is None else {MEMBER: proof}
