"""What a request passes before a backend is asked, in this order."""

from dataclasses import replace

import pytest

from proxy.core import jsontext
from proxy.core.backends import profiles
from proxy.core.backends.target import Target
from proxy.core.dialects.registry import counter_of
from proxy.core.errors import ClientFault
from proxy.core.events import PartEnded, Reply
from proxy.core.flow.request import Asker, admitted, completed, memory_name, prepared_for
from proxy.core.ledger import Ledger
from proxy.core.model import (
    Call,
    Hosted,
    Reasoning,
    Request,
    Result,
    Role,
    ToolKind,
    ToolName,
    ToolSpec,
)
from proxy.core.surfaces.clients import DEFAULT
from proxy.core.surfaces.memory.reasoning import ReasoningMemory
from proxy.core.tenants import ANYBODY, Mode, ToolLimits
from tests.support.chat_streams import CHAT
from tests.support.replies import RESPONSES

TOOL = ToolSpec(ToolName("f"))
CALL = Call("call_1", TOOL.tool, ToolKind.FUNCTION, "{}")
PLAIN = Request("m", [(Role.USER, ["Hi"])])
CALLED = Request(
    "m",
    [*PLAIN.turns, (Role.ASSISTANT, [CALL]), (Role.TOOL, [Result("call_1", ["long " * 100])])],
    tools=[TOOL],
)


def test_the_tenants_rules_are_looked_at_only_where_there_is_something_to_look_at() -> None:
    assert not Asker(RESPONSES, DEFAULT, ANYBODY).has_rules_for(PLAIN)
    assert Asker(RESPONSES, DEFAULT, ANYBODY).has_rules_for(CALLED)
    assert Asker(RESPONSES, DEFAULT, ANYBODY).has_rules_for(replace(PLAIN, hosted=Hosted([])))
    assert Asker(RESPONSES, DEFAULT, replace(ANYBODY, tool_result_max_bytes=9)).has_rules_for(PLAIN)


def test_the_tenants_rules_refuse_or_cut() -> None:
    tenant = replace(ANYBODY, tool_result_max_bytes=120)
    request = admitted(CALLED, Asker(RESPONSES, DEFAULT, tenant), Ledger())
    [result] = request.turns[-1][1]
    assert isinstance(result, Result)
    assert len(str(result.content)) < len(str(CALLED.turns[-1][1]))
    none = replace(tenant, limits=ToolLimits(tools=0), limits_mode=Mode.ENFORCE)
    with pytest.raises(ClientFault):
        admitted(CALLED, Asker(RESPONSES, DEFAULT, none), Ledger())


def test_reasoning_returns_to_the_tenant_and_model_it_came_from() -> None:
    memory = ReasoningMemory()
    thought = Reasoning("Hm.")
    ended = [PartEnded(thought, True), PartEnded(replace(CALL, backend_id="theirs"), True)]
    memory.keep(memory_name(ANYBODY, "m"), Reply(ended), "me")
    asker = Asker(RESPONSES, DEFAULT, ANYBODY)
    assert completed(CALLED, asker, memory, "m").turns[1][1] == [thought, CALL]
    assert completed(CALLED, asker, memory, "other").turns[1][1] == [CALL]
    other = replace(asker, tenant=replace(ANYBODY, name="other"))
    assert completed(CALLED, other, memory, "m").turns[1][1] == [CALL]


def test_a_surface_with_call_ids_of_its_own_gives_the_backend_its_own_again() -> None:
    theirs = replace(CALL, backend_id="theirs")
    request = replace(CALLED, turns=[PLAIN.turns[0], (Role.ASSISTANT, [theirs]), CALLED.turns[2]])
    [call] = completed(request, Asker(CHAT, DEFAULT, ANYBODY), ReasoningMemory(), "m").turns[1][1]
    assert isinstance(call, Call)
    assert call.call_id == "theirs"
    [same] = completed(request, Asker(RESPONSES, DEFAULT, ANYBODY), ReasoningMemory(), "m").turns[1][1]
    assert isinstance(same, Call)
    assert same.call_id == "call_1"


def test_the_question_for_tokens_is_made_of_the_request() -> None:
    target = Target("b", "http://b.test", profiles.PROFILES["vllm"])
    counter = counter_of(target.profile)
    asked = prepared_for(PLAIN, target, "theirs", "http://b.test/tokenize", Ledger(), counter)
    assert asked.counter is counter
    assert jsontext.loads(asked.post.body) == {
        "model": "theirs",
        "messages": [{"role": "user", "content": "Hi"}],
    }


def test_what_is_put_to_a_model_is_written_in_its_dialect() -> None:
    target = Target("b", "http://b.test", profiles.DEFAULT, key="secret")
    asked = prepared_for(CALLED, target, "theirs", "http://b.test/v1/chat/completions", Ledger())
    assert asked.post.url == "http://b.test/v1/chat/completions"
    assert asked.post.headers["Authorization"] == "Bearer secret"
    assert b'"model":"theirs"' in asked.post.body
    assert asked.prepared.names.client("f")[0] == TOOL.tool


def test_openai_counts_the_tokens_of_responses() -> None:
    """It has no counter for Chat."""
    openai = replace(profiles.PROFILES["openai"], counter="openai")
    counter = counter_of(openai)
    assert counter is not None
    target = Target("b", "http://b.test", openai)
    url = counter.url(target, "gpt-5.6")
    asked = prepared_for(PLAIN, target, "gpt-5.6", url, Ledger(), counter)
    assert asked.post.url == url == "http://b.test/v1/responses/input_tokens"
    assert jsontext.loads(asked.post.body).keys() == {"model", "input"}


def test_a_deployment_is_the_model_where_the_url_does_not_name_it() -> None:
    azure = profiles.PROFILES["azure-deployment"]
    base = "https://r.openai.azure.com/openai/deployments/d%201"
    for wire, named in (("responses", "d 1"), ("chat", "m")):
        target = Target("main", base, replace(azure, wire=wire))
        body = prepared_for(PLAIN, target, "m", base, Ledger()).post.body
        assert jsontext.strict(body)["model"] == named
