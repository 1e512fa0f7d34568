"""The proxy as a newcomer starts it, with a demo model of its own, for the clients that people run in Node."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from proxy.core import jsontext
from tests.node import packages
from tests.support.processes import serving

LIMIT_SECONDS = 30
"""Each needs less than one."""


@pytest.fixture(scope="session")
def proxy() -> Iterator[str]:
    """The proxy's own address, without /v1."""
    with serving("-m", "proxy", "serve", "--port", "0") as url:
        yield url


@pytest.fixture
def try_script(proxy: str) -> Callable[..., Any]:
    node = packages.required()

    def try_script(script: str, *told: str) -> Any:
        # A script from stdin imports what is installed in the folder that it runs in.
        done = subprocess.run(
            [node, "--input-type=module", "-", f"{proxy}/v1", *told],
            input=Path(__file__).with_name(script).read_bytes(),
            cwd=packages.PLACE,
            capture_output=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        return jsontext.loads(done.stdout)

    return try_script
