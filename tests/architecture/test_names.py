"""One name is one thing: files are called alike in each dialect, surface and engine of the store, classes are not."""

import ast
from collections import Counter

from tests.architecture.rooms import room
from tests.architecture.tree import EVERY

ALIKE = {
    "Answer": "a backend's: to a question of the examination, or to a request over HTTP",
    "Command": "what a person types, or what an engine of the store is to do, in each of the engines",
    "Log": "a logger, of which the core asks less than the shell",
    "Traits": "those of a model, in each dialect that knows its models",
}
"""Names of several classes, each with the reason. The demo is another program: its words are those of the wire."""


def test_no_two_classes_have_one_name_but_for_a_reason() -> None:
    names = Counter(
        node.name
        for module in EVERY
        if room(module.name) != "demo"
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, times in names.items() if times > 1} == ALIKE.keys()


def test_no_class_is_taken_under_another_name() -> None:
    """Where two of one name would meet, one of them wants a better one."""
    assert not {
        f"{module.name} calls {alias.name} {alias.asname}"
        for module in EVERY
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("proxy.")
        for alias in node.names
        if alias.asname and alias.name[:1].isupper()
    }
