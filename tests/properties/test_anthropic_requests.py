"""Whatever the request, and whichever generation of Claude: what is sent breaks no rule of the Messages API.

Nor does it change what was sent before: the newest models prove each thought by every byte that came before it.
"""

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from proxy.core import jsontext
from proxy.core.backends.profiles import PROFILES
from proxy.core.dialects.anthropic.encode import encode
from proxy.core.errors import ClientFault
from proxy.core.ledger import Ledger
from proxy.core.model import Call, Part, Reasoning, Request, Role, Text
from proxy.core.profile import BackendProfile
from proxy.core.tools.prepare import prepare
from tests.properties.drawn_requests import requests
from tests.scripted.anthropic import check_body

MODELS = (
    "claude-fable-5-2",
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-opus-4-8",
    "claude-sonnet-4-6",
    "claude-sonnet-4-5",
    "kimi-k2",
)
ANTHROPIC = PROFILES["anthropic"]
EVERY_PROFILE = (
    ANTHROPIC,
    replace(ANTHROPIC, force_tool="auto", late_system="user", parallel="omit", replay="none"),
    replace(ANTHROPIC, orphan_tools="declare", parallel="false", formats=frozenset(), effort_field="none"),
)
BLOCKS = (
    {"type": "thinking", "thinking": "Hm.", "signature": "U0lH"},
    {"type": "thinking", "thinking": "", "signature": "U0lH"},
    {"type": "redacted_thinking", "data": "RU5D"},
)


@st.composite
def thoughtful_requests(draw: st.DrawFn, model: str) -> Request:
    """A conversation in which the model left its thoughts here and there, and another model some of its own."""
    request = draw(requests())
    turns = []
    for role, said in request.turns:
        parts: list[Part] = []
        for part in said:
            if role is Role.ASSISTANT and draw(st.booleans()):
                whose = draw(st.sampled_from([model, "claude-opus-9"]))
                blocks = draw(st.lists(st.sampled_from(BLOCKS), max_size=2))
                kept = [{"model": whose, "block": block} for block in blocks]
                parts.append(Reasoning("Hm.", {"anthropic": {"blocks": kept}}))
            parts.append(part)
        turns.append((role, parts))
    sampling = replace(request.sampling, top_p=draw(st.sampled_from([None, 0.5, 1.0])))
    return replace(request, turns=turns, sampling=sampling)


def sent(request: Request, profile: BackendProfile, model: str) -> bytes:
    ledger = Ledger()
    return jsontext.dumps(encode(request, prepare(request, profile, ledger), profile, model, ledger))


@given(data=st.data(), profile=st.sampled_from(EVERY_PROFILE), model=st.sampled_from(MODELS))
def test_what_is_sent_is_valid_there(data: st.DataObject, profile: BackendProfile, model: str) -> None:
    request = data.draw(thoughtful_requests(model))
    try:
        body = sent(request, profile, model)
    except ClientFault:
        assume(False)  # files or schemas that this backend has no place for: it is told so, nothing is sent
        raise
    said = jsontext.strict(body)
    check_body(said)
    assert body == sent(request, profile, model)
    calls = [part for _, parts in request.turns for part in parts if isinstance(part, Call)]
    told = [
        block for message in said["messages"] for block in message["content"] if block["type"] == "tool_use"
    ]
    assert len(told) == len(calls)


@given(data=st.data(), model=st.sampled_from(MODELS))
def test_what_was_said_once_is_said_the_same_ever_after(data: st.DataObject, model: str) -> None:
    """For as long as the conversation goes on with an answer."""
    request = data.draw(thoughtful_requests(model))
    request = replace(request, choice=type(request.choice)())
    assume(request.turns and request.turns[-1][0] in (Role.USER, Role.TOOL))
    assume(any(not isinstance(part, str) or part.strip() for part in request.turns[-1][1]))
    answered = [*request.turns, (Role.ASSISTANT, [Text("Yes.")]), (Role.USER, ["And now?"])]
    try:
        shorter = jsontext.strict(sent(request, ANTHROPIC, model))
        longer = jsontext.strict(sent(replace(request, turns=answered), ANTHROPIC, model))
    except ClientFault:
        assume(False)
        raise
    kept = len(shorter["messages"])
    assert jsontext.dumps(longer["messages"][:kept]) == jsontext.dumps(shorter["messages"])
    assert all(longer.get(name) == shorter.get(name) for name in ("system", "tools"))
