"""What a hundred requests cost: no more than was recorded, but for a twentieth."""

import warnings

import pytest

from proxy.core import jsontext
from tests.load import instructions


def test_requests_cost_no_more_instructions_than_recorded() -> None:
    recorded = jsontext.loads(instructions.RECORDED.read_bytes()).get(instructions.PYTHON)
    if not instructions.can_count() or recorded is None:
        missing = (
            "there is no valgrind" if recorded else f"nothing is recorded for Python {instructions.PYTHON}"
        )
        warnings.warn(f"NO INSTRUCTIONS WERE COUNTED: {missing}", stacklevel=1)
        pytest.skip(missing)
    found = instructions.counted()
    assert found.keys() == recorded.keys(), "scripts/instructions --record"
    assert instructions.grown(found, recorded) == []


def test_what_has_grown_is_named() -> None:
    recorded = {"short": 2.0, "stream": 2.0}
    assert instructions.grown({"short": 2.09, "stream": 1.0}, recorded) == []
    [line] = instructions.grown({"short": 2.11, "stream": 2.0}, recorded)
    assert "short requests" in line
    assert line.endswith("2.11 times as many instructions as copying, 2.00 recorded")
