"""How many examples a property is worth."""

import os

from hypothesis import settings

EXPLORING = 20 if os.environ.get("HYPOTHESIS_PROFILE") == "explore" else 1


def examples(count: int) -> settings:
    return settings(max_examples=count * EXPLORING)
