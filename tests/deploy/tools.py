"""Programs that prove the files in `scripts/deploy`, from a place of their own: nginx, helm, schemas."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.processes import ROOT

FILES = ROOT / "scripts" / "deploy"
PLACE = ROOT / ".deploy" / "bin"
LIMIT_SECONDS = 60


def tool(name: str) -> Path:
    """Without it a test fails where all must run, and says so elsewhere."""
    if not (PLACE / name).exists():
        left_out(f"these tests need {name}; scripts/install deploy installs it")
    return PLACE / name


def left_out(why: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"LEFT OUT: {why}", pytrace=False)
    pytest.skip(f"LEFT OUT: {why}")


def said_by(*command: str | Path, told: str = "") -> str:
    """What a program prints that does what it should."""
    done = subprocess.run(
        command, input=told, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr or done.stdout
    return done.stdout
