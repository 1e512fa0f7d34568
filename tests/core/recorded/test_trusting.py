"""Tokens where nobody knows the key."""

from proxy.core.model import Reasoning
from proxy.core.recorded.trusting import TrustingSigner, without_proofs
from proxy.core.surfaces.memory.tokens import TokenSigner

SIGNER = TokenSigner("of somebody").of("ann")
THOUGHT = Reasoning("hm")


def test_each_is_believed() -> None:
    trusting = TrustingSigner().of("ann")
    token = SIGNER.reasoning(THOUGHT)
    assert trusting.reader().reasoning(token) == THOUGHT
    assert trusting.reader().reasoning(trusting.reasoning(THOUGHT)) == THOUGHT
    assert trusting.reader().reasoning("no token") is None
    assert trusting.reader().reasoning("rp1.a") is None


def test_what_is_compared_has_no_proof() -> None:
    signed, made = SIGNER.reasoning(THOUGHT).encode(), TrustingSigner().reasoning(THOUGHT).encode()
    assert signed != made
    assert without_proofs(b'{"t":"' + signed + b'"}') == b'{"t":"' + made + b'"}'
    assert without_proofs(b"rp1." + b"a" * 25) == b"rp1." + b"a" * 25
