"""What every command is made of."""

import pytest

from proxy.cli import main
from proxy.commands.command import show, tell


def test_every_option_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    said = capsys.readouterr().out
    assert "--backend-key KEY" in said
    assert "prefer the variable. [PROXY_BACKEND_KEY]" in " ".join(said.split())


def test_s15_what_others_say_is_shown_without_what_a_terminal_obeys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show("a\x1b[2J\u202e\nb")
    tell("\x9b1A\ud800")
    told = capsys.readouterr()
    assert told.out == "a\\u001b[2J\\u202e\nb\n"
    assert told.err == "\\u009b1A\\ud800\n"
