"""Input items of the Responses surface: a table `type → function`, each item one turn of one speaker.

The readers are liberal where published clients differ: messages without `type`, content as a string or as parts,
arguments as an object, missing ids. `history` decides which turns belong together.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from proxy.core import jsontext
from proxy.core.masking.redact import as_name, quoted
from proxy.core.model import (
    ASSISTANT,
    CUSTOM,
    FUNCTION,
    TOOL,
    USER,
    Call,
    HostedItem,
    Part,
    Reasoning,
    Result,
    Role,
    Text,
    ToolKind,
    ToolName,
    Turn,
)
from proxy.core.stored.kept_items import HOSTED_ANSWERS, HOSTED_PREFIXES
from proxy.core.stored.private import thought_in
from proxy.core.surfaces.reading.checks import (
    FieldFault,
    array,
    filled_in,
    mapping,
    missing,
    optional_string_in,
    string_in,
    too_many,
    wrong_type,
    wrong_value,
)
from proxy.core.surfaces.reading.content import (
    ASSISTANT_PARTS,
    MEDIA_PARTS,
    PARTS,
    InputCursor,
    Json,
    content_in,
)
from proxy.core.surfaces.reading.fields import checked, output_format
from proxy.core.surfaces.responses import tool_results
from proxy.core.surfaces.responses.compaction import INSTRUCTION, SUMMED_UP
from proxy.core.surfaces.responses.envelope import CONFIGURATION
from proxy.core.tools.names import stem

MAX_ITEMS = 20_000
"""Items in one request: one per 50 tokens of a window of a million, and about 40 ms of the event loop."""

DIALECT = "responses"
"""The key of this surface's own things in `extras`."""

FOUND = "These tools can be called now:"
NOTHING_FOUND = "No tools were found."
RESULTS_ARE_ITEMS = " What a tool returned is an item of its own: send a function_call_output."
CALLS_ARE_ITEMS = "is the Chat form: send each call as an item of its own, a function_call."

ItemReader = Callable[[Json, InputCursor], Turn | None]
NOTHING: Turn = (USER, [])  # in the place of an item that says nothing
THOUGHTS = (Reasoning, Text)
ROLES: dict[str, tuple[Role, tuple[type[Part], ...]]] = {
    "user": (USER, MEDIA_PARTS),
    "assistant": (ASSISTANT, ASSISTANT_PARTS),
    "system": (Role.SYSTEM, (str,)),
    "developer": (Role.DEVELOPER, (str,)),
}
"""The roles of messages, each with the kinds of part that it may send."""


FOREIGN_SUMMARY = (
    "A compaction item was left out, and what it summed up with it: it was not made by this proxy, or before it was "
    "started again without a server.signing_key."
)


def read_items(items: list[Any], cursor: InputCursor) -> list[Turn]:
    """What each item says, in its place."""
    if len(items) > MAX_ITEMS:
        raise too_many("input", MAX_ITEMS, "items")
    said: list[Turn] = []
    cursor.last = len(items) - 1
    read: ItemReader
    for cursor.item, item in enumerate(items):
        try:
            read = ITEMS.get(item.get("type"), _said)
        except (AttributeError, TypeError):  # it is no object, or its type no word
            read = _said
        try:
            said.append(read(item, cursor) or NOTHING)
        except FieldFault as fault:
            raise fault.inside(cursor.path()) from None
    return said


def _said(item: Any, cursor: InputCursor) -> Turn | None:
    """Reads an item whose type is missing, or not known."""
    if not isinstance(item, dict):
        raise wrong_type("", "an object", item)
    kind = item.get("type")
    if kind is None:
        return ITEMS[_untyped(item)](item, cursor)
    if not isinstance(kind, str):
        raise wrong_type(".type", "a string", kind)
    cursor.ledger.drop("unknown_item")
    cursor.ledger.log.debug("input_item_ignored", type=as_name(kind))
    return None


def _untyped(item: Json) -> str:
    """The type of an item without one. Published clients leave it out of messages, and of references, which have an id
    alone."""
    is_reference = "id" in item and "role" not in item and "content" not in item
    return "item_reference" if is_reference else "message"


def _message(item: Json, cursor: InputCursor) -> Turn:
    try:
        speaker, allowed = ROLES[item["role"]]
    except (KeyError, TypeError):
        raise _of_no_role(item) from None
    if item.get("tool_calls"):  # if they were ignored, their results would have no calls
        raise wrong_value(".tool_calls", CALLS_ARE_ITEMS)
    if speaker is not ASSISTANT:
        return speaker, content_in(item, "content", cursor, allowed)
    if item.get("content") is None:
        return speaker, []  # an answer of nothing but calls, in the Chat form
    parts = content_in(item, "content", cursor, allowed)
    if (phase := item.get("phase")) and isinstance(phase, str):
        parts = [replace(part, phase=phase) if isinstance(part, Text) else part for part in parts]
    return speaker, parts


def _of_no_role(message: Json) -> FieldFault:
    role = optional_string_in(message, "role")
    if role is None:
        return missing(".role", f"one of {', '.join(ROLES)}")
    hint = RESULTS_ARE_ITEMS if role == TOOL else ""
    return wrong_value(".role", f"must be one of {', '.join(ROLES)}, got {quoted(role)}.{hint}")


def _agent_message(item: Json, cursor: InputCursor) -> Turn:
    """Codex sends these from one agent to another. To the model, the other agent is a user."""
    return USER, content_in(item, "content", cursor, MEDIA_PARTS, AGENT_PARTS)


def _plaintext(part: Json) -> str:
    """The text that the other agent's model wrote. Despite its name, only OpenAI's own backend encrypts it."""
    return string_in(part, "encrypted_content")


def _function_call(item: Json, cursor: InputCursor) -> Turn:
    arguments = item.get("arguments")
    if arguments is None:
        arguments = ""
    elif type(arguments) is not str:
        arguments = jsontext.compact(mapping(arguments, ".arguments", "JSON text or an object"))
    return _call(item, FUNCTION, arguments, cursor)


def _custom_tool_call(item: Json, cursor: InputCursor) -> Turn:
    return _call(item, CUSTOM, optional_string_in(item, "input") or "", cursor)


def _call(item: Json, kind: ToolKind, arguments: str, cursor: InputCursor) -> Turn:
    name, call_id, namespace = item.get("name"), item.get("call_id"), item.get("namespace")
    if not (name and type(name) is str and type(call_id) is str and namespace is None):  # rare, or wrong
        name = filled_in(item, "name", "", "the name of the tool")
        namespace = optional_string_in(item, "namespace") or None
        key = "id" if call_id is None and item.get("id") else "call_id"
        call_id = string_in(item, key, "", "the id of the call")
    tool = cursor.called.get((name, namespace))
    if tool is None:
        tool = cursor.called[name, namespace] = ToolName(name, namespace)
    return ASSISTANT, [Call(call_id, tool, kind, arguments)]


def _tool_search_call(item: Json, cursor: InputCursor) -> Turn | None:
    return _call_of(ToolKind.TOOL_SEARCH, item, item.get("arguments"), cursor)


def _local_shell_call(item: Json, cursor: InputCursor) -> Turn | None:
    action = item.get("action")
    if isinstance(action, dict):
        action = {name: value for name, value in action.items() if name != "type" and value}
    return _call_of(ToolKind.LOCAL_SHELL, item, action, cursor)


def _shell_call(item: Json, cursor: InputCursor) -> Turn | None:
    action = item.get("action")
    if isinstance(action, dict):
        action = {name: value for name, value in action.items() if value is not None}
    return _call_of(ToolKind.SHELL, item, action, cursor)


def _apply_patch_call(item: Json, cursor: InputCursor) -> Turn | None:
    return _call_of(ToolKind.APPLY_PATCH, item, item.get("operation"), cursor)


def _call_of(kind: ToolKind, item: Json, arguments: Any, cursor: InputCursor) -> Turn | None:
    """A call of the one tool of its kind. Without an id or arguments, the item tells what another API's server did by
    itself, and is left out."""
    if item.get("call_id") is None or not isinstance(arguments, dict):
        cursor.ledger.drop("hosted_call")
        return None
    call = Call(string_in(item, "call_id"), ToolName(kind.value), kind, jsontext.compact(arguments))
    return ASSISTANT, [call]


def _tool_search_output(item: Json, cursor: InputCursor) -> Turn | None:
    """Declares the tools that were found. The result tells the model their names; their declarations have the rest."""
    _tools(item, cursor)
    if item.get("call_id") is None:
        return None
    found = _names(item.get("tools") or [])
    text = f"{FOUND} {', '.join(found)}" if found else NOTHING_FOUND
    return TOOL, [Result(string_in(item, "call_id"), [text])]


def _reasoning(item: Json, cursor: InputCursor) -> Turn:
    """What the store or a token of ours holds, exactly. Without either it is the thought itself where the client has
    it, else its summary, which also stands in for the words where none are held.

    Another server's token is carried along unread.
    """
    thought = _thought(item, "content", cursor) or _thought(item, "summary", cursor)
    token = optional_string_in(item, "encrypted_content")
    ours = thought_in(item)
    if ours is None and token and cursor.tokens:
        ours = cursor.tokens.reasoning(token)
        if ours is None:
            cursor.ledger.drop("foreign_token")
    if ours is not None:
        return ASSISTANT, [ours if ours.text.strip() else replace(ours, text=thought)]
    extras = {DIALECT: {"encrypted_content": token}} if token else {}
    return ASSISTANT, [Reasoning(thought, extras)]


def _thought(item: Json, key: str, cursor: InputCursor) -> str:
    if item.get(key) is None:
        return ""
    parts = content_in(item, key, cursor, THOUGHTS)
    return "\n\n".join(part.text for part in parts if isinstance(part, THOUGHTS) and part.text.strip())


def _hosted(item: Json, cursor: InputCursor) -> Turn | None:
    """What a tool of the backend's did, or the answer to its question: only such a backend can read it."""
    if cursor.hosted is None:
        cursor.hosted = bool(cursor.run())
    if not cursor.hosted:
        cursor.ledger.drop("unknown_item")
        return None
    return USER if item["type"] in HOSTED_ANSWERS else ASSISTANT, [HostedItem(item)]


def _compaction_trigger(item: Json, cursor: InputCursor) -> Turn | None:
    """Asks for a compaction if it is the last item. A trigger that stayed in a history has had its answer."""
    if cursor.item != cursor.last:
        cursor.ledger.drop("compaction_trigger")
        return None
    cursor.compact = True
    return USER, [INSTRUCTION]


def _compaction(item: Json, cursor: InputCursor) -> Turn | None:
    """A summary out of a token of ours, or one in plain words. What other servers encrypted cannot be read here."""
    token = optional_string_in(item, "encrypted_content") or ""
    summary = cursor.tokens.summary(token) if cursor.tokens else None
    if summary is None and any(character.isspace() for character in token):
        summary = token
    if summary is None:
        cursor.ledger.drop("foreign_token")
        cursor.ledger.warn(FOREIGN_SUMMARY)
        return None
    return USER, [f"{SUMMED_UP}\n\n{summary}"]


def _item_reference(item: Json, cursor: InputCursor) -> None:
    """Whatever names an item was replaced by it, or refused. What is left has no id, or no type and more than an id."""
    string_in(item, "id")
    cursor.ledger.drop("item_reference")


def _tools(item: Json, cursor: InputCursor) -> None:
    """Codex declares tools among the items too: for some models all of them, for others those that a search found."""
    if item.get("tools") is not None:
        cursor.tools.append((array(item["tools"], ".tools"), cursor.path(".tools")))


def _configuration_update(item: Json, cursor: InputCursor) -> None:
    """From here on the model is to think so hard, and to answer in this form, until the next such item says more."""
    try:
        update = checked(CONFIGURATION, item)
    except FieldFault as fault:
        raise fault.inside(".") from None
    cursor.effort = (update.reasoning and update.reasoning.effort) or cursor.effort
    if update.text and (wish := update.text.format):
        form = output_format(wish.type, wish, ".text.format", cursor.ledger.work)
        cursor.format = replace(form, path=cursor.path(form.path))


def _names(tools: list[Any], namespace: str | None = None) -> list[str]:
    """The names of the tools that were found, as far as they can be read: errors are found where they are declared."""
    names: list[str] = []
    for tool in tools:
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str):
            continue
        inner = tool.get("tools")
        names += _names(inner, name) if isinstance(inner, list) else [stem(ToolName(name, namespace))]
    return names


AGENT_PARTS = PARTS | {"encrypted_content": _plaintext}

ITEMS: dict[str, ItemReader] = {
    "message": _message,
    "agent_message": _agent_message,
    "function_call": _function_call,
    "function_call_output": tool_results.function_output,
    "custom_tool_call": _custom_tool_call,
    "custom_tool_call_output": tool_results.output,
    "reasoning": _reasoning,
    "item_reference": _item_reference,
    "additional_tools": _tools,
    "tool_search_call": _tool_search_call,
    "tool_search_output": _tool_search_output,
    "compaction": _compaction,
    "compaction_summary": _compaction,
    "compaction_trigger": _compaction_trigger,
    "configuration_update": _configuration_update,
    "local_shell_call": _local_shell_call,
    "local_shell_call_output": tool_results.local_shell_output,
    "shell_call": _shell_call,
    "shell_call_output": tool_results.shell_output,
    "apply_patch_call": _apply_patch_call,
    "apply_patch_call_output": tool_results.apply_patch_output,
    **dict.fromkeys((*HOSTED_PREFIXES, *HOSTED_ANSWERS), _hosted),
}
