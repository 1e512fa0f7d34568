"""For all tests.

Hypothesis runs the same examples every time, unless it is told to explore:

HYPOTHESIS_PROFILE=explore pytest tests/properties      new examples, and twenty times as many
"""

import gc
import os
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

# A slow machine is no reason to fail, and a red suite must be red again the next time.
settings.register_profile(
    "steady", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "explore", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

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
