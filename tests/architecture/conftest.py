"""The trees of all modules are half a million objects: they go when the last test of this room has read them.

Else every collection of garbage in the tests that follow would walk over them.
"""

from pathlib import Path

import pytest

from tests.architecture.tree import nodes_of, tree_of

HERE = Path(__file__).parent


def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    if nextitem is None or not nextitem.path.is_relative_to(HERE):
        nodes_of.cache_clear()
        tree_of.cache_clear()
