"""Commands find no settings that stand in the environment of whoever runs the tests."""

import os

import pytest


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PROXY_")]:
        monkeypatch.delenv(name)
