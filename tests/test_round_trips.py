"""What a backend said, through the whole core to the client and back: the next request says it again.

A client keeps the items of a reply and sends them with its next turn. Whatever it drops or cannot hold must not matter.
"""

from typing import Any

from proxy.core import jsontext
from proxy.core.backends import model_rules, profiles
from proxy.core.dialects.chat.encode import encode
from proxy.core.ledger import Ledger
from proxy.core.profile import BackendProfile
from proxy.core.surfaces.responses.compaction import SUMMED_UP
from proxy.core.surfaces.responses.decode import decode
from proxy.core.tools.prepare import prepare
from tests.support.replies import DONE, PATCH, REQUEST, SIGNER, STOP, TIME, WEATHER, call_chunk, chunk, run
from tests.support.strict_server import refuse
from tests.support.tables import table
from tests.support.written import as_sent

ASKING = REQUEST | {"include": ["reasoning.encrypted_content"], "tools": [WEATHER]}
ECHOED = ("type", "id", "role", "content", "summary", "encrypted_content", "call_id", "name", "namespace",
          "arguments", "input", "execution", "action", "status")  # fmt: skip
"""The members that Codex gives back; all others are dropped."""


def answered(reply: bytes, profile: BackendProfile, body: dict[str, Any] = ASKING) -> list[dict[str, Any]]:
    """The items of a reply as Codex gives them back."""
    output = run(reply, body, profile=profile).events()[-1]["response"]["output"]
    return [{name: item[name] for name in ECHOED if name in item} for item in output]


def next_body(
    items: list[dict[str, Any]], profile: BackendProfile, body: dict[str, Any] = ASKING
) -> dict[str, Any]:
    """What the backend gets with the next turn, read by the strict server."""
    outputs = [
        {"type": "function_call_output", "call_id": item["call_id"], "output": "done"}
        for item in items
        if item["type"] in ("function_call", "local_shell_call")
    ]
    ledger = Ledger()
    asked = {"role": "user", "content": "Hi"}
    more = [asked, *items, *outputs, asked]
    request = decode(body | {"input": more}, ledger, signer=SIGNER)
    encoded = as_sent(encode(request, prepare(request, profile, ledger), profile, "m", ledger))
    refuse(encoded, profile)
    return encoded


def said_again(reply: bytes, profile: BackendProfile, body: dict[str, Any] = ASKING) -> dict[str, Any]:
    messages = next_body(answered(reply, profile, body), profile, body)["messages"]
    return next(message for message in messages if message["role"] == "assistant")


def test_deepseek_gets_its_reasoning_back_exactly() -> None:
    """It refuses a history of calls without."""
    thought = "  First,\n\n I think.\n"
    reply = chunk({"reasoning_content": thought}) + call_chunk(0, "a", "get_weather", "{}") + STOP + DONE
    assert said_again(reply, profiles.PROFILES["deepseek"])["reasoning_content"] == thought


def test_openrouter_gets_its_objects_back_joined_and_beside_the_call() -> None:
    text = {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1"}
    signature = text | {"text": None, "signature": "sig"}
    encrypted = {"type": "reasoning.encrypted", "data": "blob", "id": "a", "index": 1}
    reply = (
        chunk({"reasoning": "H", "reasoning_details": [text | {"text": "H"}]})
        + chunk({"reasoning": "m", "reasoning_details": [text | {"text": "m"}]})
        + chunk({"reasoning_details": [signature]})
        + chunk({"content": "Yes."})
        + chunk({"reasoning_details": [encrypted]})
        + call_chunk(0, "a", "get_weather", "{}")
        + STOP
        + DONE
    )
    profile = profiles.PROFILES["openrouter"]
    kinds = [item["type"] for item in answered(reply, profile)]
    assert kinds == ["reasoning", "message", "reasoning", "function_call"]
    message = said_again(reply, profile)
    assert message["reasoning_details"] == [text | {"text": "Hm", "signature": "sig"}, encrypted]
    assert message["content"] == "Yes."


def test_gemini_gets_the_proof_of_each_call_back_on_that_call() -> None:
    """It refuses a history of its own calls without."""
    proof = {"google": {"thought_signature": "sig"}}
    function = {"name": "get_weather", "arguments": "{}"}
    calls = [
        {"index": 0, "id": "a", "type": "function", "function": function, "extra_content": proof},
        {"index": 1, "id": "b", "type": "function", "function": function},
    ]
    reply = chunk({"content": "One moment."}) + chunk({"tool_calls": calls}) + STOP + DONE
    profile = model_rules.for_model(profiles.DEFAULT, "gemini-3-pro")
    first, second = said_again(reply, profile)["tool_calls"]
    assert first["extra_content"] == proof
    assert "extra_content" not in second
    elsewhere = next_body(answered(reply, profile), profiles.DEFAULT)["messages"][1]["tool_calls"]
    assert all("extra_content" not in call for call in elsewhere)


def test_a_client_that_keeps_nothing_is_not_given_anything_to_keep() -> None:
    encrypted = {"type": "reasoning.encrypted", "data": "blob"}
    reply = chunk({"reasoning_details": [encrypted]}) + chunk({"content": "Yes."}) + STOP + DONE
    [message] = answered(reply, profiles.PROFILES["openrouter"], REQUEST)
    assert message["type"] == "message"


def test_one_dialects_objects_are_never_sent_to_another() -> None:
    details = [{"type": "reasoning.text", "text": "Hm", "index": 0}]
    reply = (
        chunk({"reasoning": "Hm", "reasoning_details": details})
        + call_chunk(0, "a", "get_weather", "{}")
        + STOP
        + DONE
    )
    items = answered(reply, profiles.PROFILES["openrouter"])
    messages = next_body(items, profiles.PROFILES["deepseek"])["messages"]
    assert messages[1]["reasoning_content"] == "Hm"
    assert "reasoning_details" not in messages[1]


def test_a_tool_of_every_kind_is_called_again_by_the_name_and_arguments_that_it_had() -> None:
    """The names of a request are made anew each time, and must be the same."""
    tools = [
        {"type": "tool_search", "execution": "client", "description": "Finds.", "parameters": None},
        {"type": "local_shell"},
        {"type": "namespace", "name": "team", "tools": [{"type": "function", "name": "hire"}]},
    ]
    body = ASKING | {"tools": tools}
    wanted = [
        ("tool_search", '{"query":"x"}'),
        ("local_shell", '{"command":["ls"]}'),
        ("team__hire", '{"who":"a"}'),
    ]
    reply = b"".join(call_chunk(n, f"c{n}", *call) for n, call in enumerate(wanted)) + STOP + DONE
    items = answered(reply, profiles.DEFAULT, body)
    assert [item["type"] for item in items] == ["tool_search_call", "local_shell_call", "function_call"]
    found = [{"type": "function", "name": "paint"}]
    items.append({"type": "tool_search_output", "call_id": "c0", "execution": "client", "tools": found})
    encoded = next_body(items, profiles.DEFAULT, body)
    calls = encoded["messages"][1]["tool_calls"]
    assert [(call["function"]["name"], call["function"]["arguments"]) for call in calls] == wanted
    assert [tool["function"]["name"] for tool in encoded["tools"]] == [*(name for name, _ in wanted), "paint"]
    assert encoded["messages"][2]["content"] == "These tools can be called now: paint"


def test_a_conversation_that_was_summed_up_goes_on_from_its_summary() -> None:
    body = REQUEST | {"input": [{"role": "user", "content": "Hi"}, {"type": "compaction_trigger"}]}
    reply = chunk({"reasoning_content": "Hm."}) + chunk({"content": "We met."}) + STOP + DONE
    [item] = answered(reply, profiles.DEFAULT, body)
    assert item["type"] == "compaction"
    messages = next_body([item], profiles.DEFAULT, REQUEST)["messages"]
    assert messages == [{"role": "user", "content": f"Hi\n\n{SUMMED_UP}\n\nWe met.\n\nHi"}]


CODEX_TOOLS = [
    WEATHER,
    PATCH,
    {"type": "tool_search", "execution": "client", "description": "Finds.", "parameters": None},
    {"type": "local_shell"},
    {"type": "namespace", "name": "mcp__demo", "description": "", "tools": [TIME]},
    {"type": "web_search", "external_web_access": False},
]
PIXEL = "data:image/png;base64,iVBORw0KGgo="
CODEX_HISTORY: list[dict[str, Any]] = [
    {"type": "additional_tools", "role": "developer", "tools": CODEX_TOOLS[:2]},
    {"role": "developer", "content": [{"type": "input_text", "text": "You are Codex."}]},
    {"role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
    {"type": "reasoning", "id": "rs_1", "summary": [], "content": None, "encrypted_content": "ENC1"},
    {"type": "function_call", "name": "get_time", "namespace": "mcp__demo", "arguments": "{}", "call_id": "a"},
    {"type": "tool_search_call", "execution": "client", "call_id": "b", "arguments": {"query": "x"}},
    {"role": "assistant", "content": [{"type": "output_text", "text": "One moment."}]},
    {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_image", "image_url": PIXEL}]},
    {"type": "tool_search_output", "execution": "client", "call_id": "b", "tools": CODEX_TOOLS[4:5]},
    {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch", "call_id": "a"},
    {"type": "custom_tool_call_output", "call_id": "a", "output": "aborted"},
    {"type": "local_shell_call", "call_id": "c", "status": "completed", "action": {"type": "exec", "command": ["ls"]}},
    {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "x"}},
    {"role": "developer", "content": [{"type": "input_text", "text": "Now read-only."}]},
    {"type": "agent_message", "author": "/root", "recipient": "/a",
     "content": [{"type": "encrypted_content", "encrypted_content": "Do it."}]},
]  # fmt: skip
CODEX = {"model": "m", "stream": True, "store": False, "parallel_tool_calls": True, "tool_choice": "auto",
         "include": ["reasoning.encrypted_content"], "prompt_cache_key": "k", "client_metadata": {"a": "b"},
         "reasoning": {"effort": "low", "context": "all_turns"}, "text": {"verbosity": "low"}}  # fmt: skip


@table(
    "body",
    [
        CODEX | {"input": CODEX_HISTORY, "tools": CODEX_TOOLS},
        CODEX | {"input": CODEX_HISTORY},
        CODEX | {"input": CODEX_HISTORY[1:], "tools": []},
        CODEX | {"input": [*CODEX_HISTORY, {"type": "compaction_trigger"}], "tools": CODEX_TOOLS},
    ],
    ids=["declared", "declared among the items", "local compaction", "remote compaction"],
)
def test_whatever_shape_codex_sends_every_backend_gets_a_request_that_it_takes(body: dict[str, Any]) -> None:
    """Duplicate and missing call ids, results apart from their calls, and items of other servers among them."""
    for profile in profiles.PROFILES.values():
        if not profile.max_tools or profile.dialect != "chat":
            continue  # no agent can work with it, or it is asked in words of its own
        ledger = Ledger()
        request = decode(body, ledger, "drop", SIGNER)
        refuse(as_sent(encode(request, prepare(request, profile, ledger), profile, "m", ledger)), profile)


@table(
    ("name", "arguments", "item"),
    [
        ("mcp__demo__get_time", {}, {"type": "function_call", "name": "get_time", "namespace": "mcp__demo"}),
        ("tool_search", {"query": "x"}, {"type": "tool_search_call", "arguments": {"query": "x"}}),
        ("apply_patch", {"input": "*** Begin"}, {"type": "custom_tool_call", "input": "*** Begin"}),
    ],
)
def test_a_call_in_the_text_comes_back_as_what_its_client_declared(
    name: str, arguments: dict[str, Any], item: dict[str, Any]
) -> None:
    call = jsontext.compact({"name": name, "arguments": arguments})
    reply = chunk({"content": f"<tool_call>\n{call}\n</tool_call>"}) + STOP + DONE
    [called] = answered(reply, profiles.DEFAULT, REQUEST | {"tools": CODEX_TOOLS})
    assert called | item == called
