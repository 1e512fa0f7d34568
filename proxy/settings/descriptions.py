"""What settings are for: the docstring below each, as it stands in the source.

pydantic reads them too (`use_attribute_docstrings`), but looks for one class after the other: 23 ms of each start.
"""

import ast
import linecache
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

from proxy.settings.section import Section


def descriptions(kind: type[Section]) -> Mapping[str, str]:
    """The descriptions of a group's settings by their names, inherited settings included."""
    groups = (group for group in reversed(kind.__mro__) if issubclass(group, Section))
    return dict(each for group in groups for each in _in_module(group.__module__).get(group.__name__, ()))


@cache
def _in_module(name: str) -> Mapping[str, list[tuple[str, str]]]:
    """The descriptions in a module by the names of its classes. Where there is no source, there are none."""
    module = vars(sys.modules[name])
    source = "".join(linecache.getlines(module.get("__file__", ""), module))
    return {
        node.name: list(_described(node)) for node in ast.parse(source).body if isinstance(node, ast.ClassDef)
    }


def _described(group: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(group.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())
            case _:
                pass
