"""The image, built once for all who need its packages."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.deploy.dockerfile import Stage, built
from tests.support.processes import ROOT


@pytest.fixture(scope="package")
def image() -> Iterator[Stage]:
    with TemporaryDirectory(prefix="image-") as folder:
        yield built(ROOT / "Dockerfile", Path(folder))
