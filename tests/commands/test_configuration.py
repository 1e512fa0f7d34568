"""`check-config` and `show-config`."""

from pathlib import Path

import pytest

from proxy.cli import main

ROOT = Path(__file__).parents[2]


def test_good_settings_are_good(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-config", "--port", "9000"]) == 0
    assert capsys.readouterr().out.startswith("The settings are valid. With them, responses are kept in ")


def test_settings_are_shown_without_their_secrets(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROXY_BACKEND_KEY", "sk-very-secret")
    assert main(["show-config", "--backend", "http://localhost:8000"]) == 0
    said = capsys.readouterr().out
    assert 'url = "http://localhost:8000"  # --backend' in said
    assert 'key = "**********"  # PROXY_BACKEND_KEY' in said
    assert "sk-very-secret" not in said
