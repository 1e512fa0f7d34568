"""For all tests."""

import gc
import os
from tempfile import TemporaryDirectory

import pytest

STATE = TemporaryDirectory(prefix="responses-proxy-tests-")


def pytest_configure(config: pytest.Config) -> None:
    """What proxies keep by default goes nowhere else."""
    os.environ["XDG_STATE_HOME"] = STATE.name
    os.environ.pop("STATE_DIRECTORY", None)
    config.add_cleanup(STATE.cleanup)


def pytest_collection_finish() -> None:
    """What was collected lives to the end: walking over it again and again would be a tenth of the core suite."""
    gc.collect()
    gc.freeze()
