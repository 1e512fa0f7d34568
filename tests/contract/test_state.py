"""What a model wants back with its calls: clients that carry it lose nothing, for the others the proxy remembers, and
when it has forgotten, the next request is still one that the provider takes (P01, P11).
"""

from dataclasses import replace

import pytest

from tests.contract.backends import BACKENDS, SIGNING_CHAT
from tests.contract.cases import CASES, Round
from tests.contract.chat import Chat
from tests.contract.client import Conversation, proxy
from tests.contract.native import Native
from tests.contract.responses import Responses
from tests.contract.surfaces import Surface
from tests.scripted.serving import Scripted, one_by_one, serving

CLIENTS: dict[str, Surface] = {
    "responses": Responses(),
    "chat": Chat(),
    "chat_with_whole_calls": Chat(whole_calls=True),
    "native": Native(),
    "native_with_whole_calls": Native(whole_calls=True),
}
MODELS = {**BACKENDS, "signing_chat": SIGNING_CHAT}
CASE = CASES["long_reasoning"]
CARRYING = {
    *(("responses", name) for name in MODELS),
    *((client, model) for client in CLIENTS if "whole" in client for model in ("google", "signing_chat")),
}
"""What stands beside reasoning goes through reasoning items alone; Google's proofs are also members of the calls."""

every_client = pytest.mark.parametrize("client", CLIENTS)
every_model = pytest.mark.parametrize("model", MODELS)
streamed_or_whole = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@every_model
@every_client
@streamed_or_whole
async def test_the_same_proxy_for_both_rounds(client: str, model: str, stream: bool) -> None:
    backend = MODELS[model]
    talk = Conversation(CLIENTS[client], CASE.ask, backend.model, stream=stream)
    async with (
        serving(backend.provider, *(each.says for each in CASE.rounds), pieces=one_by_one) as provider,
        proxy({"url": provider.url, **backend.settings}) as url,
    ):
        for each in CASE.rounds:
            await heard(talk, url, each)
            assert asked(model, provider) == replace(each.received, limit=None)


@every_model
@every_client
@streamed_or_whole
async def test_a_new_proxy_for_each_round(client: str, model: str, stream: bool) -> None:
    backend = MODELS[model]
    talk = Conversation(CLIENTS[client], CASE.ask, backend.model, stream=stream)
    async with serving(backend.provider, *(each.says for each in CASE.rounds), pieces=one_by_one) as provider:
        for each in CASE.rounds:
            async with proxy({"url": provider.url, **backend.settings}, server=SIGNING) as url:
                await heard(talk, url, each)
            proofs = each.received.proofs if (client, model) in CARRYING else ()
            assert asked(model, provider) == replace(each.received, proofs=proofs, limit=None)


SIGNING = {"signing_key": "the same in each of them"}


async def heard(talk: Conversation, url: str, this: Round) -> None:
    answer = await talk.round(url, this)
    assert answer.outcome == this.outcome, answer.said


def asked(model: str, provider: Scripted) -> object:
    assert not provider.wrong, provider.wrong
    return replace(MODELS[model].read(provider.last.body), limit=None)
