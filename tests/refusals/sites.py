"""Every place in the proxy where a refusal is made, as its code has it, and those that a request has come through.

A place is a call of a class of the `ClientFault` family, wherever that is at home, or of a function of
`inbound.checks` that makes one: the same places that stand on the stack when one is made. So a refusal that no case
reaches is seen, and so is a new one.
"""

import ast
import sys
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest

import proxy
from proxy.core.errors import ClientFault
from proxy.core.surfaces.reading import checks

ROOT = Path(proxy.__file__).parent
CHECKS = Path(checks.__file__)


class Site(NamedTuple):
    path: str
    """Below the package."""
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


# ── as the code has them ──


def all_sites() -> dict[Site, str]:
    """Each with its code."""
    classes = {kind.__name__ for kind in family(ClientFault)}
    functions = _functions(classes)
    return {
        Site(path.relative_to(ROOT).as_posix(), *_span(call)): ast.unparse(call)
        for path in sorted(ROOT.rglob("*.py"))
        for call in _calls(ast.parse(path.read_bytes()), classes, functions, path)
    }


def family(kind: type) -> Iterator[type]:
    yield kind
    for inner in kind.__subclasses__():
        yield from family(inner)


def _functions(classes: Set[str]) -> Set[str]:
    """Whatever in `checks` calls one of the classes, or something that does."""
    found: set[str] = set()
    functions = [node for node in ast.parse(CHECKS.read_bytes()).body if isinstance(node, ast.FunctionDef)]
    while new := {each.name for each in functions if any(_named(each, classes | found))} - found:
        found |= new
    return found


def _calls(module: ast.Module, classes: Set[str], functions: Set[str], path: Path) -> Iterator[ast.Call]:
    """The functions only in modules that have them from where they are at home: others have names like theirs."""
    known = {
        alias.asname or alias.name
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in (classes | functions if node.module == checks.__name__ else classes)
    }
    return _named(module, classes | (functions if path == CHECKS else known))


def _named(tree: ast.AST, names: Set[str]) -> Iterator[ast.Call]:
    """Also by way of their module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _last_name(node.func) in names:
            yield node


def _last_name(function: ast.expr) -> str | None:
    match function:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case _:
            return None


def _span(call: ast.Call) -> tuple[int, int, int, int]:
    assert call.end_lineno is not None
    assert call.end_col_offset is not None
    return call.lineno, call.col_offset, call.end_lineno, call.end_col_offset


# ── as requests come through them ──


@dataclass(frozen=True)
class Made:
    complaint: str
    """Without the field, of which only a part is known at first."""
    through: frozenset[Site]


@contextmanager
def watched() -> Iterator[list[Made]]:
    """Fills with every refusal that is made meanwhile. It only looks on."""
    made: list[Made] = []
    initialise = ClientFault.__init__

    def noted(fault: ClientFault, *said: Any, **more: Any) -> None:
        initialise(fault, *said, **more)
        complaint = fault.message.removeprefix(fault.param or "").strip()
        made.append(Made(complaint, frozenset(_stack(sys._getframe(1)))))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClientFault, "__init__", noted)
        yield made


def _stack(frame: FrameType | None) -> Iterator[Site]:
    """The calls that are under way in the proxy."""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT):
            here = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
            line, end_line, column, end_column = (number or 0 for number in here)
            yield Site(path.relative_to(ROOT).as_posix(), line, column, end_line, end_column)
        frame = frame.f_back
