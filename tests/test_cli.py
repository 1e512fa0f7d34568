"""The command line: commands by their names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import proxy
from proxy.cli import COMMANDS, main
from proxy.core.recorded.lines import written
from tests.support.processes import ROOT
from tests.support.recordings import as_it_is, recording


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"responses-proxy {proxy.__version__}\n"


def test_a_command_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2


def test_who_asks_for_help_is_told_of_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--help"], ["--help", "serve"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
        told = capsys.readouterr().out.split()
        assert set(COMMANDS) <= set(told)


def test_wrong_settings_are_exit_code_2_and_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "proxy.toml"
    path.write_text("[server]\nprot = 1\n", encoding="utf-8")
    for command in ("serve", "check-config", "show-config"):
        assert main([command, "--config", str(path)]) == 2
        said = capsys.readouterr()
        assert said.err == f"{path}: unknown key server.prot (did you mean server.port?)\n"
        assert said.out == ""


@pytest.mark.parametrize("command", ["show-config", "replay"])
def test_whoever_has_seen_enough_may_stop_reading(tmp_path: Path, command: str) -> None:
    """As `show-config | head -1` does."""
    file = tmp_path / "one.jsonl"
    file.write_bytes(written(as_it_is(recording())))
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "proxy", command, *([str(file)] if command == "replay" else [])]
    with os.fdopen(writing, "w") as pipe:
        ended = subprocess.run(words, stdout=pipe, stderr=subprocess.PIPE, cwd=ROOT, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_what_is_closed_is_no_reason_to_abort(closed: str) -> None:
    """The event loop takes no socket for one of the first three files."""
    words = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "proxy", "check-config"]
    ended = subprocess.run([*words, "--store", "off"], capture_output=True, cwd=ROOT, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
