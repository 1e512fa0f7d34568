"""Tables of cases that run as one test, so that a thousand rows cost no more than their own work.

pytest makes a test of every row it parametrises, at half a millisecond each: the core's six thousand rows would take a
third longer. `table` takes the same arguments as `pytest.mark.parametrize`, runs every row, and tells of all that fail,
by name. With `PYTEST_EACH_ROW=1` in the environment every row becomes a test of its own after all, which can be
selected, repeated and stopped at like any other.
"""

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

EACH_ROW = "PYTEST_EACH_ROW"


def table(
    names: str | Sequence[str],
    rows: Iterable[Any],
    ids: Iterable[str] | Callable[[Any], Any] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    if ids is not None and not callable(ids):
        ids = list(ids)
    cases = [_case(row, len(wanted), ids, index) for index, row in enumerate(rows)]
    assert cases, "a table without rows tests nothing"
    if os.environ.get(EACH_ROW):
        return pytest.mark.parametrize(wanted, [pytest.param(*values, id=name) for name, values in cases])

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        if inspect.isclass(test):
            for name, method in list(vars(test).items()):
                if name.startswith("test_"):
                    setattr(test, name, decorate(method))
            return test

        @functools.wraps(test)
        def run(*args: Any, **fixtures: Any) -> None:
            failures: list[Exception] = []
            for name, values in cases:
                try:
                    test(*args, **fixtures, **dict(zip(wanted, values, strict=True)))
                except Exception as failure:
                    failure.add_note(f"row: {name}")
                    failures.append(failure)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(cases)} rows", failures)

        signature = inspect.signature(test)
        kept = [parameter for name, parameter in signature.parameters.items() if name not in wanted]
        run.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        del run.__wrapped__  # pytest would look through it for the names of fixtures
        return run

    return decorate


def _case(row: Any, width: int, ids: Any, index: int) -> tuple[str, Sequence[Any]]:
    """A row is a tuple of values, or one value by itself, or a `pytest.param` of either with its name."""
    name = getattr(row, "id", None) if hasattr(row, "marks") else None
    values = row.values if hasattr(row, "marks") else row if width > 1 else (row,)
    if name is None and ids is not None:
        name = ids(values[0]) if callable(ids) else ids[index]
    return str(name if name is not None else values), values
