import tomllib
from typing import Any

import pytest

from proxy.settings.toml_text import toml_key, toml_table, toml_value


@pytest.mark.parametrize("value", [1, 1.5, True, 'a "b"\n\x7f\\', ["a", 2], {"a b": {"c": []}, "": 1}, "ü€"])
def test_values_are_read_back(value: Any) -> None:
    assert tomllib.loads(f"a = {toml_value(value)}") == {"a": value}


@pytest.mark.parametrize("key", ["a", "a-b_c", "a.b", "", 'a"b'])
def test_keys_are_read_back(key: str) -> None:
    assert tomllib.loads(f"{toml_key(key)} = 1") == {key: 1}


def test_tables_are_read_back() -> None:
    values = {
        "files": True,
        "formats": ["a"],
        "effort_map": {"max": "high"},
        "after_tool": 'Done. "So" it is.',
    }
    lines = "\n".join(toml_table(["backends", "a.b", "overrides"], values))
    assert tomllib.loads(lines) == {"backends": {"a.b": {"overrides": values}}}
