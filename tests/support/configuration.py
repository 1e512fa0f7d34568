"""A configuration file, and what is said of a wrong one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from proxy.settings.loading import ConfigError, load

Write = Callable[[str], str]
KEY = "ab" * 32


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str) -> str:
        path = tmp_path / "proxy.toml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def complaint(options: dict[str, str], environment: dict[str, str], file: str | None = None) -> str:
    with pytest.raises(ConfigError) as error:
        load(options, environment, file)
    return str(error.value)
