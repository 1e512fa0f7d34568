"""What every command is made of."""

import pytest

from proxy.cli import main


def test_every_option_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    said = capsys.readouterr().out
    assert "--backend-key KEY" in said
    assert "prefer the variable. [PROXY_BACKEND_KEY]" in " ".join(said.split())
