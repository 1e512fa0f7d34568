"""Clients whose packages have a place of their own: a script there asks, and what it says is read here."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from proxy.core import jsontext
from tests.support.processes import ROOT

LIMIT_SECONDS = 60
"""Each needs five at most, nearly all of them to be imported."""


def asking(place: str, script: str, *told: str) -> Any:
    """What a script prints. Without its packages a test fails where all must run, and says so elsewhere."""
    if not (ROOT / f".{place}" / f"{place}.lock").exists():
        missing = f"LEFT OUT: these tests need packages of their own; scripts/install {place} installs them"
        if os.environ.get("CI"):
            pytest.fail(missing, pytrace=False)
        pytest.skip(missing)
    done = subprocess.run(
        [ROOT / f".{place}" / "bin" / "python", Path(__file__).with_name(script), *told],
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return jsontext.loads(done.stdout)
