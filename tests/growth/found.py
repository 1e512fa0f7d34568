"""Every regular expression of the package, wherever it is made.

The source says where: each call of `re` has a key, `module:NAME` for what is assigned at the top of a module (told
without the package) and `module:function` for what is made inside one. What the patterns are is heard from a process
of its own, which imports all modules with an ear at `re`; those that are made later, of a configuration or a request,
it cannot hear.
"""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
PACKAGE = "proxy"

READINGS = frozenset({"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"})
HOW = {"match": "match", "fullmatch": "fullmatch", "search": "search"}
"""Whatever else there is goes through the whole text, from match to match."""


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__").removeprefix(f"{PACKAGE}.")


@cache
def sources() -> dict[str, ast.Module]:
    """The trees of all modules, by their names."""
    return {name_of(path): ast.parse(path.read_bytes()) for path in sorted((ROOT / PACKAGE).rglob("*.py"))}


def keys() -> set[str]:
    """Of every call of `re` in the source."""
    return {key for key, _ in asked()}


def said(key: str) -> list[re.Pattern[str]]:
    """What is written as a plain text where `re` is called."""
    texts = [call.args[0] for place, call in asked() if place == key]
    return [
        re.compile(text.value)
        for text in texts
        if isinstance(text, ast.Constant) and isinstance(text.value, str)
    ]


@cache
def asked() -> list[tuple[str, ast.Call]]:
    """Every call of `re`."""
    return [
        (f"{module}:{place}", call)
        for module, tree in sources().items()
        for place, call in _calls(tree)
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in {"compile", *READINGS}
        and _names(call.func.value) == {"re"}
    ]


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for statement in tree.body:
        yield from _calls_in(statement, _target(statement))


def _calls_in(node: ast.AST, place: str) -> Iterator[tuple[str, ast.Call]]:
    if isinstance(node, ast.Call):
        yield place, node
    for child in ast.iter_child_nodes(node):
        inner = place
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            inner = _named_in(place, child)
        yield from _calls_in(child, inner)


def _named_in(place: str, child: ast.AST) -> str:
    if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
        return f"{place}.{child.name}"
    return place


def _target(statement: ast.stmt) -> str:
    """What the statement gives a name to."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            return ast.unparse(target)
        case _:
            return f"line {statement.lineno}"


def uses(key: str) -> set[str]:
    """The methods that are asked of a pattern by its name; a search where it is handed on, which may be anything."""
    module, _, name = key.partition(":")
    found = {how for where, names, how in _looks() if name in names and (where == module or name[0] != "_")}
    return found or {"search"}


@cache
def _looks() -> list[tuple[str, set[str], str]]:
    """Every call of a method that patterns have: the module, what it is asked of, and how it looks."""
    return [
        (module, _names(node.value), HOW.get(node.attr, "all"))
        for module, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in READINGS
    ]


def _names(node: ast.expr) -> set[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return {name}
        case _:
            return set()


# ── what they are ──


@cache
def heard() -> dict[str, list[re.Pattern[str]]]:
    """By key, all that are made while the package is imported."""
    said = subprocess.run(
        [sys.executable, __file__], capture_output=True, check=True, text=True, timeout=60, cwd=ROOT
    ).stdout
    found: dict[str, list[re.Pattern[str]]] = {}
    for module, function, line, pattern, flags in ast.literal_eval(said):
        place = _at(module, line) if function.startswith("<") else function
        if isinstance(pattern, bytes):  # each byte is a character, for what is counted here
            pattern, flags = pattern.decode("latin-1"), flags | re.ASCII
        found.setdefault(f"{module}:{place}", []).append(re.compile(pattern, flags))
    return found


def _at(module: str, line: int) -> str:
    for statement in sources()[module].body:
        if statement.lineno <= line <= (statement.end_lineno or line):
            return _target(statement)
    raise LookupError(f"{module}, line {line}")


def _listen() -> list[tuple[str, str, int, str, int]]:
    found = []
    compile_really = re._compile  # type: ignore[attr-defined]

    def compile_told(pattern: Any, flags: int) -> Any:
        compiled = compile_really(pattern, flags)
        caller = sys._getframe(2)
        module = caller.f_globals.get("__name__", "")
        if isinstance(pattern, str | bytes) and module.partition(".")[0] == PACKAGE:
            place = caller.f_code.co_qualname.partition(".<locals>")[0]
            found.append(
                (module.removeprefix(f"{PACKAGE}."), place, caller.f_lineno, pattern, compiled.flags)
            )
        return compiled

    re._compile = compile_told  # type: ignore[attr-defined]
    package = importlib.import_module(PACKAGE)
    for module in pkgutil.walk_packages(package.__path__, f"{PACKAGE}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return found


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.stdout.write(ascii(_listen()))
