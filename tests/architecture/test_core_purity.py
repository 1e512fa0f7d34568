"""The core neither waits nor looks at a clock, and its counters are write-only."""

import ast

from tests.architecture.tree import CORE, EVERY

OUTSIDE_WORLD = {
    "aiohttp", "asyncio", "datetime", "io", "logging", "os", "pathlib", "random", "secrets", "select", "socket", "ssl",
    "structlog", "subprocess", "sys", "tempfile", "threading", "time", "uuid", "uvloop",
}  # fmt: skip
"""Clocks, chance, files, sockets and logs: whoever needs their answer gets it as a parameter."""

HARMLESS = {
    "proxy.core.dialects.reading.retry_after imports datetime": "the type of a date that was read from a header",
    "proxy.core.caches.shelf imports threading": "a lock: large requests are read beside the event loop",
}
CLOCKS = {"now", "utcnow", "today", "time", "monotonic", "perf_counter"}
WAITING = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)
SIDE_DOORS = {"open", "print", "input", "exec", "eval", "__import__"}


def test_the_core_awaits_nothing() -> None:
    assert not {
        f"{module.name} awaits"
        for module in CORE
        for node in module.nodes
        if isinstance(node, WAITING) or (isinstance(node, ast.comprehension) and node.is_async)
    }


def test_the_core_knows_nothing_of_the_world_outside() -> None:
    assert {
        f"{module.name} imports {package}"
        for module in CORE
        for package in {name.partition(".")[0] for name in module.imports} & OUTSIDE_WORLD
    } == set(HARMLESS)


def test_the_core_asks_no_clock() -> None:
    """Not even through a class that is harmless by itself. A clock that is a parameter is called by its own name."""
    assert not {
        f"{module.name} calls {ast.unparse(node.func)}"
        for module in CORE
        for node in module.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CLOCKS
        and not ast.unparse(node.func).startswith("self.")
    }


def test_the_core_opens_and_prints_nothing() -> None:
    assert not {
        f"{module.name} calls {node.func.id}"
        for module in CORE
        for node in module.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SIDE_DOORS
    }


COUNTS = {"oddities", "dropped", "markup", "remarks"}
READ_COUNTS = {
    "proxy.core.examination.heard",
    "proxy.core.ledger",
    "proxy.core.recorded.translation",
    "proxy.shell.in_flight",
    "proxy.shell.inspector.details",
    "proxy.shell.inspector.summaries",
    "proxy.shell.ops.metrics",
    "proxy.shell.recorder.taking",
    "proxy.shell.tracing.spans",
}
"""An examination and a translation, which have ledgers of their own; the ledger itself, the request's line in the log,
what the inspector shows, the metrics, and the recording and the trace of a request that has ended."""


def test_counters_are_write_only() -> None:
    """A ledger lives as long as its request: a stage that read a count might act upon an earlier attempt's."""
    assert {
        module.name
        for module in EVERY
        for node in module.nodes
        if isinstance(node, ast.Attribute)
        and node.attr in COUNTS
        and (ast.unparse(node.value).endswith(("ledger", "watch")) or module.name == "proxy.core.ledger")
    } == READ_COUNTS
