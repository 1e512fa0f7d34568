"""The proofs that clients can carry stand with the calls they belong to."""

from typing import Any

from proxy.core.events import CallHead
from proxy.core.model import Call, Reasoning, Text, ToolKind, ToolName
from proxy.core.surfaces.chat.proofs import Proofs


def call(backend_id: str | None = None) -> CallHead:
    return CallHead("call_ours", ToolName("f"), ToolKind.FUNCTION, backend_id)


def signed(*signatures: str) -> Reasoning:
    return Reasoning(
        "", {"google": {"signatures": [{"model": "m", "signature": each} for each in signatures]}}
    )


def learned(*parts: Any) -> Proofs:
    proofs = Proofs()
    for part in parts:
        proofs.learn(part)
    return proofs


def test_a_signature_belongs_to_the_call_right_after_it() -> None:
    assert learned(signed("s")).of(call()) == {"google": {"thought_signature": "s"}}
    assert learned(signed("s", "t")).of(call()) == {"google": {"thought_signature": "s"}}
    between: list[Any] = [Text("x"), Reasoning("Hm."), Call("call_a", ToolName("f"), ToolKind.FUNCTION, "{}")]
    for part in between:
        assert learned(signed("s"), part).of(call()) is None


def test_a_chat_backend_names_the_call_it_proves() -> None:
    """By the id that it gave, whatever the client knows the call by; and its words go on as they came."""
    said = {"google": {"thought_signature": "s"}, "vendor": 1}
    thought = Reasoning("", {"chat": {"proofs": [{"id": "their-1", "extra_content": said}]}})
    proofs = learned(thought, Text("x"))
    assert proofs.of(call("their-1")) == said
    assert proofs.of(call("their-2")) is None
    assert proofs.of(call()) is None


def test_what_other_backends_keep_is_none_of_our_business() -> None:
    assert learned(Reasoning("Hm.", {"anthropic": {"thinking": [{}]}})).of(call()) is None
