"""Folders: what lies in each, what its docstring says of that, and the names that neighbours have in common."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from keyword import iskeyword

from tests.architecture.rooms import DIALECTS, SURFACES
from tests.architecture.tree import EVERY, MODULES, PACKAGES, Module, inside

MAX_MODULES = 20
"""Of one folder, besides the folders in it: more are hard to take in at a glance."""

PARTS_OF_A_DIALECT = ("decode", "encode", "ending", "lessons", "urls")
PARTS_OF_A_SURFACE = ("surface", "decode", "calls")

LISTED = re.compile(r"^ *(\w+) {2,}\S", re.MULTILINE)
"""A name, and behind a gap what it is."""
QUOTED = re.compile(r"`([^`]+)`")


def test_no_folder_has_more_modules_than_a_glance_takes_in() -> None:
    counts = {
        package.name: len([module for module in inside(package) if not module.is_package])
        for package in PACKAGES
    }
    assert not {name: count for name, count in counts.items() if count > MAX_MODULES}


def test_every_package_names_what_is_in_it() -> None:
    assert not {
        module.name
        for package in PACKAGES
        for module in inside(package)
        if _last(module)
        not in {"__main__", *LISTED.findall(package.docstring), *QUOTED.findall(package.docstring)}
    }, "is not named in the docstring of its package"


def test_no_package_lists_what_is_not_in_it() -> None:
    assert not {
        f"{package.name}: {name}"
        for package in PACKAGES
        for name in LISTED.findall(package.docstring)
        if name not in map(_last, inside(package))
    }


def test_no_package_speaks_of_what_does_not_exist() -> None:
    assert not {
        f"{package.name}: {name}"
        for package in PACKAGES
        for name in QUOTED.findall(package.docstring)
        if name not in _names() and not iskeyword(name)
    }


def test_every_dialect_has_its_parts_under_the_usual_names() -> None:
    assert not set(_expected(DIALECTS, PARTS_OF_A_DIALECT)) - MODULES.keys()


def test_every_surface_has_its_parts_under_the_usual_names() -> None:
    assert not set(_expected(SURFACES, PARTS_OF_A_SURFACE)) - MODULES.keys()


def _expected(rooms: set[str], parts: tuple[str, ...]) -> Iterator[str]:
    assert rooms
    return (f"proxy.{room}.{part}" for room in rooms for part in parts)


def _last(module: Module) -> str:
    return module.name.rpartition(".")[2]


@cache
def _names() -> set[str]:
    """Every module, by the end of its path, as `families.qwen` and `qwen`; and whatever a module defines."""
    ends = {
        end
        for module in EVERY
        for end in accumulate(reversed(module.name.split(".")), lambda a, b: f"{b}.{a}")
    }
    defined = {
        node.name
        for module in EVERY
        for node in module.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    return ends | defined
