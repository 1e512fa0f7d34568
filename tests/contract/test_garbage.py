"""What a request made is gone when it ends, and its memory is the next one's: nothing waits for Python's collector,
which would walk all that is alive to find it."""

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.contract.backends import BACKENDS
from tests.contract.cases import CASES
from tests.contract.chat import Chat
from tests.contract.client import Conversation, proxy
from tests.contract.native import Native
from tests.contract.responses import Responses
from tests.contract.surfaces import Surface
from tests.scripted.serving import one_by_one, serving

SURFACES: dict[str, Surface] = {"responses": Responses(), "chat": Chat(), "native": Native()}


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """By their type: the proxy's own objects that only the collector could free."""
    found: Counter[str] = Counter()
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
        found.update(f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    for name in [name for name in found if not name.startswith("proxy.")]:
        del found[name]


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
