"""The command line: commands by their names."""

from pathlib import Path

import pytest

import proxy
from proxy.cli import main


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"responses-proxy {proxy.__version__}\n"


def test_a_command_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2


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
