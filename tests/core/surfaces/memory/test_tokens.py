"""What clients keep for us comes back exactly, or is not believed."""

import zlib
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.model import Reasoning
from proxy.core.surfaces.memory import tokens
from proxy.core.surfaces.memory.tokens import PREFIX, TokenSigner
from tests.support.tables import table

SIGNER = TokenSigner("a secret")
IDS = {"ids": {"a": "b"}, "forgetful": False}
DETAILS = {"chat": {"reasoning_details": [{"type": "reasoning.encrypted", "data": "ab" * 500, "index": 0}]}}


@table(
    "thought",
    [Reasoning("Hm."), Reasoning("Ünïcödé " * 999), Reasoning("", DETAILS), Reasoning("Hm.", DETAILS)],
)
def test_reasoning_comes_back_exactly(thought: Reasoning) -> None:
    assert SIGNER.reader().reasoning(SIGNER.reasoning(thought)) == thought


def test_a_summary_comes_back_exactly() -> None:
    assert SIGNER.reader().summary(SIGNER.summary("We met.")) == "We met."


def test_call_ids_come_back_exactly() -> None:
    """N03."""
    assert SIGNER.read_call_ids(SIGNER.call_ids(IDS)) == IDS


def test_the_same_secret_opens_it_after_a_restart_and_no_other_does() -> None:
    token = SIGNER.reasoning(Reasoning("Hm."))
    assert TokenSigner("a secret").reader().reasoning(token) == Reasoning("Hm.")
    assert TokenSigner("another").reader().reasoning(token) is None


def test_one_kind_is_not_taken_for_the_other() -> None:
    assert SIGNER.reader().summary(SIGNER.reasoning(Reasoning("Hm."))) is None
    assert SIGNER.reader().summary(SIGNER.call_ids({"text": "Hm."})) is None
    assert SIGNER.read_call_ids(SIGNER.summary("Hm.")) is None
    assert SIGNER.reader().reasoning(SIGNER.summary("Hm.")) is None


def test_a_token_is_safe_in_any_text_and_shorter_than_what_repeats_itself() -> None:
    token = SIGNER.reasoning(Reasoning("again and again " * 1000))
    assert token.removeprefix(PREFIX).replace("-", "").replace("_", "").isalnum()
    assert len(token) < 1000


def test_no_changed_character_goes_unnoticed() -> None:
    token = SIGNER.reasoning(Reasoning("Hm."))
    places = range(len(PREFIX), len(token) - 1)  # the last character has bits that say nothing
    for place in places:
        changed = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        assert SIGNER.reader().reasoning(changed) is None


@table(
    "token",
    ["", "ENC1", "gAAAAABn", PREFIX, f"{PREFIX}A", f"{PREFIX}ABCD", f"{PREFIX}ä", f"{PREFIX}{'A' * 99}"],
)
def test_what_is_not_ours_is_not_opened(token: str) -> None:
    assert SIGNER.reader().reasoning(token) is None


# ── what is not believed, though it is proved (attack 06) ──


def test_attack_06_a_token_of_one_tenant_is_none_of_anothers() -> None:
    ann, bob = SIGNER.of("ann"), SIGNER.of("bob")
    token = ann.reasoning(Reasoning("Hm."))
    assert ann.reader().reasoning(token) == Reasoning("Hm.")
    for other in (bob, SIGNER, SIGNER.of(""), ann.of("bob"), SIGNER.of("ann\0")):
        assert other.reader().reasoning(token) is None
        assert other.read_call_ids(ann.call_ids({"ids": {}, "forgetful": False})) is None


def forged(kind: str, packed: bytes) -> str:
    """As somebody makes it who knows the secret."""
    return PREFIX + urlsafe_b64encode(SIGNER._proof(kind, packed) + packed).decode().rstrip("=")


def odd(kind: str, held: Any) -> str:
    return forged(kind, zlib.compress(jsontext.dumps(held)))


def deep(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = [value]
    return value


@table(
    "token",
    [
        forged("reasoning", b""),
        forged("reasoning", b"no zlib at all"),
        forged("reasoning", zlib.compress(b"{}")[:-1]),
        forged("reasoning", zlib.compress(b"no json")),
        forged("reasoning", zlib.compress(b'{"text":"\xff"}')),
        forged("reasoning", zlib.compress(b'{"text":NaN,"extras":{}}')),
        forged("reasoning", zlib.compress(b"[" * 100_000)),
        *(
            odd("reasoning", held)
            for held in (
                {},
                [],
                5,
                None,
                "text",
                {"text": 5, "extras": {}},
                {"text": "Hm."},
                {"extras": {}},
                {"text": "Hm.", "extras": []},
                {"text": "Hm.", "extras": {"chat": []}},
                {"text": "Hm.", "extras": {"chat": {"reasoning_details": {}}}},
                {"text": "Hm.", "extras": {"chat": {"proofs": [5]}}},
                {"text": "Hm.", "extras": {"chat": {"proofs": [{"extra_content": {}}]}}},
                {"text": "Hm.", "extras": {"chat": {"proofs": [{"id": "a"}]}}},
                {"text": "Hm.", "extras": {"anthropic": {"blocks": [5]}}},
                {"text": "Hm.", "extras": {"anthropic": {"blocks": [{"block": []}]}}},
                {"text": "Hm.", "extras": {"anthropic": {"blocks": [{"block": {"type": 5}}]}}},
                {"text": "Hm.", "extras": {"chat": {"reasoning_details": [deep(200)]}}},
            )
        ),
    ],
)
def test_attack_06_what_is_not_as_we_make_it_is_none_of_ours(token: str) -> None:
    assert SIGNER.reader().reasoning(token) is None


@table("held", [{}, [], 5, {"text": 5}, {"text": None}])
def test_attack_06_a_summary_is_a_text(held: Any) -> None:
    assert SIGNER.reader().summary(odd("summary", held)) is None


@table(
    "held",
    [
        {},
        [],
        {"ids": {}},
        {"forgetful": False},
        {"ids": [], "forgetful": False},
        {"ids": {"a": 5}, "forgetful": False},
        {"ids": {}, "forgetful": 1},
        {"ids": {"a": "b" * tokens.MAX_IDS}, "forgetful": False},
    ],
)
def test_attack_06_a_map_of_ids_is_one_of_texts(held: Any) -> None:
    assert SIGNER.read_call_ids(odd("call_ids", held)) is None


def test_what_a_backend_may_have_kept_is_as_it_was() -> None:
    extras = {
        "chat": {"reasoning_details": ["odd", {"type": 5}], "proofs": [{"id": "a", "extra_content": None}]},
        "anthropic": {"blocks": [{"model": "m", "block": {"type": "thinking", "x": deep(100)}}]},
        "google": {"signatures": [{"signature": "s"}]},
        "acme": {},
    }
    assert SIGNER.reader().reasoning(SIGNER.reasoning(Reasoning("Hm.", extras))) == Reasoning("Hm.", extras)


def test_attack_06_all_tokens_of_a_request_are_opened_out_of_one_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A real token can be sent again and again, and each time the backend is sent all that is in it."""
    monkeypatch.setattr(tokens, "MAX_HELD", 1000)
    reader = SIGNER.reader()
    thought, summary = SIGNER.reasoning(Reasoning("x" * 320)), SIGNER.summary("y" * 500)
    assert reader.reasoning(thought) == Reasoning("x" * 320)
    assert reader.reasoning(thought) == Reasoning("x" * 320)
    assert reader.summary(summary) is None
    assert reader.reasoning(thought) is None
    assert reader.summary(SIGNER.summary("z" * 100)) == "z" * 100
    assert SIGNER.reader().summary(summary) == "y" * 500


def test_attack_06_the_same_token_is_unpacked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, token, bomb = SIGNER.reader(), SIGNER.reasoning(Reasoning("Hm.")), odd("reasoning", [0] * 100_000)
    unpacked: list[bytes] = []
    unpack = tokens._unpacked
    monkeypatch.setattr(
        tokens, "_unpacked", lambda packed, limit: unpacked.append(packed) or unpack(packed, limit)
    )
    for _ in range(3):
        assert reader.reasoning(token) == Reasoning("Hm.")
        assert reader.reasoning(bomb) is None
    assert len(unpacked) == 2


def test_attack_06_a_bomb_is_not_unpacked_to_its_end() -> None:
    bomb = forged("summary", zlib.compress(b"0" * (tokens.MAX_HELD + 1)))
    assert len(bomb) < 30_000
    assert SIGNER.reader().summary(bomb) is None
