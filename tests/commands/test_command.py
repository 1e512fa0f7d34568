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


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["serve", "--prot", "9"], "serve: error: unrecognized arguments: --prot 9 (did you mean --port?)"),
        (["serve", "--prot=9"], "unrecognized arguments: --prot=9 (did you mean --port?)"),
        (["serve", "now"], "unrecognized arguments: now (see responses-proxy serve --help)"),
        (["store", "info", "--sotre", "x"], "store info: error: unrecognized arguments: --sotre x (did you mean"),
    ],
)  # fmt: skip
def test_what_a_command_does_not_know_is_told_with_its_own_options(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err


def test_without_a_command_all_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "Run the proxy. Without a backend, a demo model answers." in capsys.readouterr().err
