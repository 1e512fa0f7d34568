"""All cases, asked once for all tests of this room."""

import asyncio

import pytest

from tests.refusals.cases import Case
from tests.refusals.runs import Told, ask_all
from tests.refusals.tables import CASES


@pytest.fixture(scope="session")
def answers() -> dict[Case, Told]:
    """Of all cases: each is asked once, whatever of it is looked at."""
    return asyncio.run(ask_all(CASES))
