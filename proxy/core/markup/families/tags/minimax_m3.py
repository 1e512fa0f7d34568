"""MiniMax M3: a tree of elements, each tag behind a token. With T for that token, `]<]minimax[>[`:

    T<tool_call>
    T<invoke name="NAME">T<KEY>valueT</KEY>T<LIST>T<item>1T</item>T<item>2T</item>T</LIST>T</invoke>
    T</tool_call>

Elements in an element are an object, elements `item` or with the same key are a list, and text is typed by the schema
of its place in the tree. Blanks may stand between the token and the tag.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from proxy.core.markup import tagged, values
from proxy.core.markup.formats import Block, Format, Recovered, Tier, Tools, Verdict, waiting

_TOKEN: Final = "]<]minimax[>["
_TAG: Final = re.compile(
    rf"{re.escape(_TOKEN)}\s{{0,64}}<(?P<end>/?)(?P<key>[^\s<>/]{{1,200}})(?P<about>\s[^<>\n]{{0,200}})?/?>"
)
_TAG_BEGUN: Final = re.compile(
    rf"\s*+(?:{re.escape(_TOKEN)}\s{{0,64}}(?:<[^<>\n]{{0,400}})?"
    rf"|{'|'.join(re.escape(_TOKEN[:size]) for size in range(len(_TOKEN) - 1, -1, -1))})\Z"
)
_CALL_DEPTH: Final = 2
_EMPTY: Final[Mapping[frozenset[str], type]] = {frozenset(("object",)): dict, frozenset(("array",)): list}
"""What an element is that holds nothing, by its type."""
MAX_DEPTH: Final = 100
"""Elements inside one another; real ones have a handful, and each costs some frames of Python's 1000."""


@dataclass(slots=True)
class _Node:
    key: str
    start: int
    about: str = ""
    text: str = ""
    children: list["_Node"] = field(default_factory=list)


def _read(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    path: list[_Node] = []
    names: list[str] = []
    position = at
    while tag := _TAG.search(text, position):
        between = text[position : tag.start()]
        leaf = path and not path[-1].children and tag["end"]
        if between.strip() and not leaf:
            return None
        position = tag.end()
        if not tag["end"]:
            if len(path) >= MAX_DEPTH or _misplaced(tag["key"], len(path)):
                return None
            path.append(_Node(tag["key"], tag.end(), tag["about"] or ""))
            if len(path) == _CALL_DEPTH:
                names.append(tagged.label(path[-1].about))
            continue
        if not path or path[-1].key != tag["key"]:
            return None
        node = path.pop()
        node.text = text[node.start : tag.start()]
        if not path:
            return _block(node, tag.end(), tools)
        path[-1].children.append(node)
    may_go_on = not ended and (len(path) > 1 or _TAG_BEGUN.match(text, position))
    return waiting(tools, names, len(text) - at, alone=False) if may_go_on else None


def _misplaced(key: str, depth: int) -> bool:
    return {0: "tool_call", 1: "invoke"}.get(depth, key) != key


def _block(wrapper: _Node, end: int, tools: Tools) -> Block | None:
    calls = []
    for invoke in wrapper.children:
        name = tagged.label(invoke.about)
        schema = tools.schema(name)
        arguments = values.written(_arguments(invoke.children, schema))
        if not name or arguments is None:
            return None
        calls.append(Recovered(name, arguments))
    return Block(end, tuple(calls)) if calls else None


def _arguments(children: list[_Node], schema: values.Schema) -> dict[str, Any]:
    match children:
        case [_Node(key=key, children=[]) as only]:
            if (held := values.held_by(key, only.text, schema)) is not None:
                return held
        case [_Node(key=key, children=inner)] if values.is_holder(key, {one.key for one in inner}, schema):
            children = inner
    return _object(children, schema, schema)


def _object(children: list[_Node], schema: Any, root: values.Schema) -> dict[str, Any]:
    known = values.properties(schema) if isinstance(schema, Mapping) else {}
    beyond = schema.get("additionalProperties") if isinstance(schema, Mapping) else None
    grouped: dict[str, list[_Node]] = {}
    for child in children:
        grouped.setdefault(child.key, []).append(child)
    return {
        key: _value(nodes[0], known.get(key, beyond), root)
        if len(nodes) == 1
        else [_value(node, _items(known.get(key, beyond)), root) for node in nodes]
        for key, nodes in grouped.items()
    }


def _value(node: _Node, schema: Any, root: values.Schema) -> Any:
    if not node.children:
        empty = _EMPTY.get(frozenset(values.admitted(schema, root))) if not node.text.strip() else None
        return empty() if empty else values.convert(node.text, schema, root)
    if {child.key for child in node.children} == {"item"} and "object" not in values.admitted(schema, root):
        return [_value(child, _items(schema), root) for child in node.children]
    return _object(node.children, schema, root)


def _items(schema: Any) -> Any:
    return schema.get("items") if isinstance(schema, Mapping) else None


FORMATS: Final = (
    Format(
        "minimax-m3", Tier.WRAPPED, (_TOKEN,), _read, ("</tool_call>",), leftovers=(f"{_TOKEN}</tool_call>",)
    ),
)
