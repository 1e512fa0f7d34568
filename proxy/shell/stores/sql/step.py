"""How a step of several statements is told, so that each engine carries it out in its own way.

A step is a generator: it yields a statement with its parameters, and is sent the rows. It never waits and never knows
who runs it; a thread with SQLite does, and a task with a connection to a server could.
"""

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

Rows: TypeAlias = list[tuple[Any, ...]]
Ask: TypeAlias = tuple[str, tuple[Any, ...]]

Result = TypeVar("Result")
Step: TypeAlias = Generator[Ask, Rows, Result]
