"""`check-config` and `show-config`."""

from pathlib import Path

import pytest

from proxy.cli import main

ROOT = Path(__file__).parents[2]


def test_good_settings_are_good(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-config", "--port", "9000"]) == 0
    assert capsys.readouterr().out.startswith("The settings are valid. With them, responses are kept in ")


def test_a_variable_that_is_not_read_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROXY_BAKEND_URL", "http://localhost:8000")
    monkeypatch.setenv("PROXY_PASS", "another program's")
    assert main(["check-config"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("so a demo model answers. For another: --backend URL")
    assert said[1:] == [
        "PROXY_BAKEND_URL is no variable of the proxy's, and was not read (did you mean PROXY_BACKEND_URL?)"
    ]


def test_settings_are_shown_without_their_secrets(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROXY_BACKEND_KEY", "sk-very-secret")
    assert main(["show-config", "--backend", "http://localhost:8000"]) == 0
    said = capsys.readouterr().out
    assert 'url = "http://localhost:8000"  # --backend' in said
    assert 'key = "**********"  # PROXY_BACKEND_KEY' in said
    assert "sk-very-secret" not in said


def test_where_recordings_would_be_lost_is_said_before_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    config = tmp_path / "proxy.toml"
    text = '[recorder]\nkeep = "all"\ndirectory = "{}"\n'
    config.write_text(text.format(tmp_path / "file" / "a"), encoding="utf-8")
    said = f"recorder.directory: {tmp_path}/file/a cannot be made, as {tmp_path}/file is no directory\n"
    for command in ("check-config", "serve"):
        assert main([command, "--config", str(config), "--port", "0"]) == 2
        assert capsys.readouterr().err.endswith(said)
    config.write_text(text.format(tmp_path / "recordings"), encoding="utf-8")
    assert main(["check-config", "--config", str(config)]) == 0
    assert f"Requests are recorded in {tmp_path}/recordings (recorder.keep)." in capsys.readouterr().out
    assert not (tmp_path / "recordings").exists()


def test_a_store_whose_directory_cannot_be_made_ends_check_and_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rights do not tell it: no file system takes so long a name."""
    directory = tmp_path / ("a" * 300)
    said = f"{directory}/state.db cannot be made (File name too long). Name another directory in store.url.\n"
    for command in ("check-config", "serve"):
        assert main([command, "--store", f"sqlite:{directory}", "--port", "0"]) == 1
        assert capsys.readouterr().err.endswith(said)
