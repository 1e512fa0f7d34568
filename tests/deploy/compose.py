"""`compose.yaml`, with its variables filled in, and what its containers run."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from tests.deploy.dockerfile import steps
from tests.deploy.tools import FILES
from tests.support.processes import ROOT

VARIABLE = re.compile(r"\$\{(\w+)(:[-?])([^}]*)\}")
"""With what follows its name: a default, or what is said if it is not set."""

GIVEN = {"POSTGRES_PASSWORD": "a-password", "PROXY_SIGNING_KEY": "0123456789abcdef"}
"""What whoever runs it must set."""


class NotSet(Exception):
    """A variable that must be."""


def read() -> Any:
    return yaml.safe_load((FILES / "compose.yaml").read_text(encoding="utf-8"))


def filled(part: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(part, dict):
        return {name: filled(value, variables) for name, value in part.items()}
    if isinstance(part, list):
        return [filled(value, variables) for value in part]
    if not isinstance(part, str):
        return part

    def value(found: re.Match[str]) -> str:
        name, kind, words = found.groups()
        if kind == ":?" and not variables.get(name):
            raise NotSet(f"{name} {words}")
        return variables.get(name) or (words if kind == ":-" else "")

    return VARIABLE.sub(value, part)


def of_the_image(step: str) -> list[str]:
    """What the last stage of the Dockerfile says."""
    said = steps((ROOT / "Dockerfile").read_text(encoding="utf-8"))
    last = max(number for number, (name, _) in enumerate(said) if name == "FROM")
    return [rest for name, rest in said[last:] if name == step]
