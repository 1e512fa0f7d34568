"""The Node packages that the tests run, as scripts/node installed them."""

import os
from pathlib import Path

import pytest

from tests.support.processes import ROOT

PLACE = ROOT / ".node"
NODE = PLACE / "bin" / "node"
COMMANDS = PLACE / "node_modules" / ".bin"
CODEX = PLACE / "node_modules" / "@openai" / "codex" / "bin" / "codex.js"
MISSING = "LEFT OUT: these tests need the Node packages; scripts/node installs them"


def required() -> Path:
    """Node itself. Without the packages a test fails where all must run, and says so elsewhere."""
    if not (PLACE / "installed").exists():
        if os.environ.get("CI"):
            pytest.fail(MISSING, pytrace=False)
        pytest.skip(MISSING)
    return NODE
