"""Settings of the page that shows requests."""

import pytest
from pydantic import ValidationError

from proxy.settings.inspector import InspectorSettings
from proxy.settings.root import Settings

KEY = "a" * 64


def test_it_is_on_and_needs_no_key_by_itself() -> None:
    settings = InspectorSettings()
    assert settings.enabled
    assert settings.keys == []


def test_a_tenants_key_is_no_key_of_the_inspector() -> None:
    """S30: whoever has it would see all other tenants."""
    with pytest.raises(ValidationError, match=r"inspector\.keys: tenants\.ann has one of them too"):
        Settings.model_validate({"tenants": {"ann": {"keys": [KEY]}}, "inspector": {"keys": [KEY]}})
