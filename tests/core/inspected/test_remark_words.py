"""The words for each counter are complete: every name that the core counts by has some, and no other."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from proxy.core.inspected import remark_words
from proxy.core.inspected.fault_words import FAULTS
from proxy.core.inspected.remark_words import FOUND_IN_TEXT, LOSSES, ODDITIES
from proxy.core.markup.candidate import Why
from tests.architecture.tree import ROOT
from tests.support.tables import table

CORE = ROOT / "proxy" / "core"
HANDED_ON = {"what", "code", "name"}
"""Arguments whose value comes from elsewhere: `what` is a name that another call in the core has, `code` a fault's,
and `name` a field's."""


def counted(*methods: str) -> Iterator[str]:
    """What is written as the first argument of these methods of a ledger, anywhere in the core."""
    for path in CORE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = dict(_constants(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                whose, method = ast.unparse(node.func.value), node.func.attr
                if method in methods and ("ledger" in whose or method == "_odd"):
                    yield from _names(node.args[0], constants, path)


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Texts that the module gives a name."""
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text)))
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=str(text)))
            ):
                yield name, text


def _names(argument: ast.expr, constants: Mapping[str, str], path: Path) -> Iterator[str]:
    match argument:
        case ast.Name(id=name) if name in constants:
            yield constants[name]
        case ast.Constant(value=str(name)):
            yield name
        case ast.IfExp(body=one, orelse=other):
            yield from _names(one, constants, path)
            yield from _names(other, constants, path)
        case ast.JoinedStr(values=[ast.Constant(value=str(beginning)), *_]):
            yield beginning
        case _:
            assert ast.unparse(argument) in HANDED_ON, f"{path}: {ast.unparse(argument)}"


def test_every_oddity_has_words() -> None:
    names = set(counted("odd", "_odd"))
    dropped = {name for name in ODDITIES if name.startswith("call_dropped_")}
    assert names - {"call_dropped_"} - set(FAULTS) == set(ODDITIES) - dropped


def test_every_reason_to_drop_a_call_has_words() -> None:
    reasons = {
        node.args[1].value
        for path in (CORE / "stream").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "self._drop"
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Constant)
    }
    assert reasons
    assert {f"call_dropped_{reason}" for reason in reasons} <= set(ODDITIES)


def test_every_loss_has_words() -> None:
    """Fields of a request go by their own names."""
    names = set(counted("drop"))
    assert names - {"schema:"} <= set(LOSSES)
    assert set(LOSSES) <= names


def test_everything_found_in_text_has_words() -> None:
    assert set(FOUND_IN_TEXT) == {why.value for why in Why} | {"recovered", "stripped"}
    assert all(words.count(";") == 1 for words in FOUND_IN_TEXT.values())


@table(
    "words, expected",
    [
        (remark_words.oddity("finish_missing"), "The backend never said why its reply ended."),
        (remark_words.oddity("tool_call_required"), FAULTS["tool_call_required"].what),
        (remark_words.oddity("brand_new"), "Something strange that has no words here yet: brand_new."),
        (remark_words.loss("image"), "An image: this backend takes none."),
        (
            remark_words.loss("schema:pattern"),
            "The schema's keyword pattern: this backend does not enforce it. The model is told of it in words.",
        ),
        (remark_words.loss("seed"), "The field seed: it has no effect here, or this backend does not know it."),
        (
            remark_words.markup("recovered:hermes"),
            "A tool call in the text became a call; the model had written it as text. "
            "Its notation is hermes.",
        ),
        (remark_words.markup("new"), "Text that looks like a tool call: new."),
        (remark_words.markup_in_brief("recovered:hermes"), "a tool call in the text became a call (hermes)"),
        (remark_words.markup_in_brief("new_thing"), "new thing (-)"),
    ],
)  # fmt: skip
def test_words(words: str, expected: str) -> None:
    assert words == expected
