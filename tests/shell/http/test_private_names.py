"""What is used of aiohttp though it is private: each name is listed, no other is used, and the installed one has it.

A private name is aiohttp's where a class of ours has it from its base, be it to use or to override, so a name of ours
that means another thing there by chance is found too.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from proxy.shell import http
from proxy.shell.http import PRIVATE_NAMES

MODULES = sorted(Path(http.__file__).parent.glob("[!_]*.py"))
OURS = {"self", "super()"}


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def names_of(kind: type) -> set[str]:
    """All that a class and its instances have that is private, as its source has it."""
    return {name for name in dir(kind) if private(name)} | set(
        re.findall(r"\bself\.(_[a-z]\w*)", inspect.getsource(kind))
    )


def inherited(kind: type) -> set[str]:
    theirs = [base for base in kind.__mro__ if base.__module__.startswith("aiohttp.")]
    return {name for base in theirs for name in names_of(base)}


def in_body(tree: ast.ClassDef) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                yield name
            case ast.Attribute(value=value, attr=name) if ast.unparse(value) in OURS:
                yield name


def test_every_private_name_is_listed_and_no_other() -> None:
    used = set()
    for path in MODULES:
        module = import_module(f"{http.__name__}.{path.stem}")
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ClassDef):
                used |= inherited(getattr(module, node.name)) & set(filter(private, in_body(node)))
    assert used == {name.rpartition(".")[2] for name in PRIVATE_NAMES}


def test_nobody_takes_a_private_name_of_what_is_no_relative() -> None:
    taken = {
        f"{path.stem}: {ast.unparse(node)}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Attribute) and private(node.attr) and ast.unparse(node.value) not in OURS
    }
    assert taken == {"connection: message._replace"}, "a named tuple's own, which its documentation promises"


@pytest.mark.parametrize("name", PRIVATE_NAMES)
def test_the_installed_aiohttp_has_it(name: str) -> None:
    module, kind, attribute = name.split(".")
    assert attribute in names_of(getattr(import_module(f"aiohttp.{module}"), kind))


def test_each_has_its_reason() -> None:
    assert all(PRIVATE_NAMES.values())
