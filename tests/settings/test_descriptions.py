"""What settings are for, as the source says it."""

import linecache

import pytest

from proxy.settings import descriptions as module
from proxy.settings.descriptions import descriptions
from proxy.settings.section import Section
from proxy.settings.tenants import LimitSettings, TenantSettings


class Pets(Section):
    """What is kept at home."""

    cats: int = 2
    """How many sleep
    on the keyboard."""
    dogs: int = 0
    birds: int = 0
    """How many sing."""


def test_a_description_is_the_text_below_a_setting() -> None:
    assert descriptions(Pets) == {"cats": "How many sleep on the keyboard.", "birds": "How many sing."}


def test_what_a_group_has_from_another_is_described_there() -> None:
    both = descriptions(TenantSettings)
    assert both.items() >= descriptions(LimitSettings).items()
    assert both.keys() == TenantSettings.model_fields.keys()


def test_without_the_source_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    module._in_module.cache_clear()
    monkeypatch.setattr(linecache, "getlines", lambda *_: [])
    try:
        assert descriptions(Pets) == {}
    finally:
        module._in_module.cache_clear()
