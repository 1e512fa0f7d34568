"""A tenant before the whole proxy, on every way that leads into it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from proxy.core.tenants import digest
from tests.contract.backends import BACKENDS
from tests.contract.cases import CASES, Ask, Case
from tests.contract.client import KEY, Conversation, SocketConversation, proxy
from tests.contract.every_surface import SURFACES
from tests.scripted.say import Say
from tests.scripted.serving import Scripted, serving

SECRET = "a tenant's own key"
SOCKET = "websocket"
Way = tuple[str, bool]
"""A surface by its name, or the socket that one of them has; and is the answer streamed?"""
WAYS: list[Way] = [*((name, stream) for name in SURFACES for stream in (True, False)), (SOCKET, True)]


def way_name(way: Way) -> str:
    return f"{way[0]}-{'streamed' if way[1] else 'whole'}"


every_way = pytest.mark.parametrize("way", WAYS, ids=way_name)
every_backend = pytest.mark.parametrize("backend_name", BACKENDS)
ONE_CALL = CASES["one_call"]
CALL_ROUND = ONE_CALL.rounds[0]
TEXT_ROUND = CASES["text"].rounds[0]


def says(case: Case) -> list[Say]:
    return [each.says for each in case.rounds]


@asynccontextmanager
async def talking(
    way: Way,
    backend_name: str,
    ask: Ask,
    answers: Sequence[Say],
    rules: Mapping[str, Any] | None,
    *,
    key: str | None = SECRET,
    other: Mapping[str, Any] | None = None,
    **sections: Any,
) -> AsyncIterator[tuple[Conversation, str, Scripted]]:
    """A client of a tenant that has these rules, before a proxy where nobody else may ask, unless it is the `other`.
    Without rules there are no tenants."""
    surface_name, stream = way
    backend = BACKENDS[backend_name]
    talk = (
        SocketConversation(ask, backend.model, key=key)
        if surface_name == SOCKET
        else Conversation(SURFACES[surface_name], ask, backend.model, stream=stream, key=key)
    )
    tenants = {} if rules is None else {"one": {"keys": [digest(SECRET)], **rules}}
    tenants |= {"other": other} if other else {}
    async with (
        serving(backend.provider, *answers) as provider,
        proxy(KEY | {"url": provider.url, **backend.settings}, tenants=tenants, **sections) as url,
    ):
        yield talk, url, provider
        provider.unsaid.clear()
