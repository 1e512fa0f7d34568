"""What a request made is gone when it ends, and its memory is the next one's: nothing waits for Python's collector,
which would walk all that is alive to find it."""

import pytest

from tests.contract.backends import BACKENDS
from tests.contract.cases import CASES
from tests.contract.chat import Chat
from tests.contract.client import Conversation, proxy
from tests.contract.native import Native
from tests.contract.responses import Responses
from tests.contract.surfaces import Surface
from tests.scripted.serving import one_by_one, serving
from tests.support.garbage import counted

SURFACES: dict[str, Surface] = {"responses": Responses(), "chat": Chat(), "native": Native()}


@pytest.mark.parametrize("case", ["text", "one_call"])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_a_request_leaves_nothing_to_the_collector(
    surface: str, backend: str, case: str, stream: bool
) -> None:
    asked = CASES[case]
    this = asked.rounds[0]
    behind = BACKENDS[backend]
    async with (
        serving(behind.provider, this.says, this.says, pieces=one_by_one) as provider,
        proxy({"url": provider.url, **behind.settings}) as url,
    ):
        warm, counting = (
            Conversation(SURFACES[surface], asked.ask, behind.model, stream=stream) for _ in range(2)
        )
        await warm.round(url, this)
        with counted() as left:
            assert (await counting.round(url, this)).outcome == this.outcome
        assert not left
