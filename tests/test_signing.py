"""Attack 06: what clients keep for us is proved by a secret that follows from nothing that anybody knows."""

from typing import Any

import pytest

from proxy.settings.root import Settings
from proxy.signing import signed

STRONG, OTHER = "sk-0a1b2c3d4e5f6g7h8i9j", "gsk_9z8y7x6w5v4u3t2s1r0q"


def key_of(*keys: str | None, **server: str) -> str:
    backends: dict[str, Any] = {
        f"b{number}": {"url": f"http://host{number}"} | ({"key": key} if key is not None else {})
        for number, key in enumerate(keys)
    }
    wanted = Settings.model_validate(
        {"server": server, "backends": backends, "routing": {"default": "b0"}} if keys else {"server": server}
    )
    made = signed(wanted).server.signing_key
    assert made is not None
    return made.get_secret_value()


def test_a_configured_key_is_the_key() -> None:
    assert key_of(STRONG, signing_key="a secret of our own") == "a secret of our own"


@pytest.mark.parametrize(
    "keys",
    [
        (),
        (None,),
        (None, None),
        ("EMPTY",),
        ("sk-no-key-required-here-at-all",),
        ("token-abc123",),
        ("00000000000000000000000000000000",),
        ("11111111111111111111111111111111a",),
        ("31415926535897932384626433832795",),
        ("x", None, "lm-studio"),
    ],
)
def test_attack_06_where_nothing_is_secret_chance_decides(keys: tuple[str | None, ...]) -> None:
    first, again = key_of(*keys), key_of(*keys)
    assert first != again
    assert min(len(first), len(again)) >= 64


def test_what_a_provider_has_made_at_random_is_a_secret_that_lasts() -> None:
    assert key_of(STRONG) == key_of(STRONG) != key_of(OTHER)
    assert key_of(STRONG, OTHER) == key_of(OTHER, STRONG) != key_of(STRONG)
    assert STRONG not in key_of(STRONG)


def test_attack_06_what_anybody_knows_adds_nothing_to_it() -> None:
    assert key_of(STRONG, None, "EMPTY") == key_of(STRONG)


def test_a_key_that_is_there_stays() -> None:
    """All workers get that of their supervisor."""
    once = signed(Settings())
    assert signed(once) is once
    assert once.server.signing_key is not None
