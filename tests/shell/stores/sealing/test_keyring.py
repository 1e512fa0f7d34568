"""The seals of the settings."""

import sys

import pytest

from proxy.shell.stores.location import LocationRefused
from proxy.shell.stores.sealing.keyring import seals_with
from proxy.shell.stores.sealing.seals import BoundTo, What

BOUND_TO = BoundTo(What.MEMO, "ann", "memo")
KEYS = ["the key of this year, 2", "the key of last year, 1"]


def test_the_first_secret_seals() -> None:
    """U61"""
    before, now = seals_with(KEYS[1:]), seals_with(KEYS)
    assert now.ids[1:] == before.ids
    assert now.opened(BOUND_TO, before.sealed(BOUND_TO, b"data")) == b"data"
    assert seals_with([]).sealed(BOUND_TO, b"data") == b"data"


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    monkeypatch.delitem(sys.modules, "proxy.shell.stores.sealing.aes", raising=False)
    with pytest.raises(LocationRefused, match=r"pip install '\.\[sealed\]' in"):
        seals_with(KEYS)
    assert seals_with([]).ids == []
