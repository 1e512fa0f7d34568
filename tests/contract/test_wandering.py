"""A conversation that goes from one provider's model to another's and back: each gets what it can take, and its own
proofs alone (P01).
"""

from dataclasses import replace
from itertools import permutations

import pytest

from tests.contract.backends import BACKENDS
from tests.contract.cases import CASES
from tests.contract.client import KEY, Conversation, proxy
from tests.contract.every_surface import SURFACES
from tests.scripted.serving import serving

CASE = CASES["long_reasoning"]
THERE, AWAY, BACK = CASE.rounds


@pytest.mark.parametrize("surface_name", SURFACES)
@pytest.mark.parametrize("pair", list(permutations(BACKENDS, 2)), ids="_and_".join)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_there_and_back(surface_name: str, pair: tuple[str, str], stream: bool) -> None:
    home, other = (BACKENDS[name] for name in pair)
    talk = Conversation(SURFACES[surface_name], CASE.ask, home.model, stream=stream)
    async with (
        serving(home.provider, THERE.says, BACK.says) as at_home,
        serving(other.provider, AWAY.says) as elsewhere,
        proxy(
            backends={
                "home": KEY | {"url": at_home.url, **home.settings},
                "other": KEY | {"url": elsewhere.url, **other.settings},
            },
            routing={"models": {home.model: "home", other.model: "other"}},
        ) as url,
    ):
        for this, backend, provider in (
            (THERE, home, at_home),
            (AWAY, other, elsewhere),
            (BACK, home, at_home),
        ):
            answer = await talk.round(url, this, backend.model)
            assert not provider.wrong, provider.wrong
            assert answer.outcome == this.outcome, answer.said
            proofs = (THERE.says.signature,) if this is BACK else ()
            received = backend.read(provider.last.body)
            assert received == replace(this.received, proofs=proofs, limit=received.limit)
