"""LlamaIndex's agent on the Responses API. It keeps what the last event of a stream brings, whichever that is."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from proxy.core import jsontext
from tests.support.processes import ROOT

PLACE = ROOT / ".llamaindex"
"""Its packages want an older `openai` than ours, so they have a place of their own."""
MISSING = "LEFT OUT: these tests need LlamaIndex; scripts/install llamaindex installs it"
LIMIT_SECONDS = 60
"""It needs five, nearly all of them to be imported."""


@pytest.fixture(scope="module")
def told(proxy: str) -> Any:
    """What it says, and what its tool was asked."""
    if not (PLACE / "llamaindex.lock").exists():
        if os.environ.get("CI"):
            pytest.fail(MISSING, pytrace=False)
        pytest.skip(MISSING)
    done = subprocess.run(
        [PLACE / "bin" / "python", Path(__file__).with_name("llamaindex_asking.py"), f"{proxy}/v1"],
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return jsontext.loads(done.stdout)


@pytest.mark.parametrize("how", ["streamed", "whole"])
def test_v03_an_agent_gets_its_call_and_runs_it(told: Any, how: str) -> None:
    """R05: nothing comes after the terminal event. An event of ours did, and brought no call."""
    assert told[how]["asked"] == ["Paris"]
    assert "18 degrees" in told[how]["answer"]
