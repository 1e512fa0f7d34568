"""A backend that refuses: whatever its provider calls it, on every surface it has the one status and the one code."""

from collections.abc import Mapping

import aiohttp
import pytest

from tests.contract.backends import BACKENDS
from tests.contract.cases import Ask
from tests.contract.client import proxy
from tests.contract.every_surface import SURFACES
from tests.scripted.say import Say
from tests.scripted.serving import serving

TOLD: Mapping[int, tuple[int, str | None]] = {
    400: (400, None),
    401: (502, "upstream_auth"),
    403: (403, "permission_denied"),
    404: (404, None),
    429: (429, "rate_limit_exceeded"),
    500: (502, "upstream_error"),
    504: (504, "upstream_timeout"),
}
"""The backend's status: ours, and our code. Its key is the proxy's, so who asks is not to blame for 401; why it is 403
or 404 is told by its words."""

TOO_LONG = {
    "chat": "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    "anthropic": "prompt is too long: 200001 tokens > 200000 maximum",
    "google": "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
    "responses": "Your input exceeds the context window of this model.",
}

every_surface = pytest.mark.parametrize("surface_name", SURFACES)
every_backend = pytest.mark.parametrize("backend_name", BACKENDS)
streamed_or_whole = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@every_surface
@every_backend
@streamed_or_whole
@pytest.mark.parametrize("status", TOLD)
async def test_a_status(surface_name: str, backend_name: str, stream: bool, status: int) -> None:
    refused = Say(status=status, refusal="Not that.")
    assert await told(surface_name, backend_name, refused, stream=stream) == TOLD[status]


@every_surface
@every_backend
@streamed_or_whole
async def test_a_conversation_that_is_too_long(surface_name: str, backend_name: str, stream: bool) -> None:
    refused = Say(status=400, refusal=TOO_LONG[backend_name])
    assert await told(surface_name, backend_name, refused, stream=stream) == (400, "context_length_exceeded")


async def told(surface_name: str, backend_name: str, say: Say, *, stream: bool) -> tuple[int, str | None]:
    """The status and the code of the refusal, before any stream."""
    surface, backend = SURFACES[surface_name], BACKENDS[backend_name]
    body = surface.body(Ask(), backend.model, stream=stream)
    async with (
        serving(backend.provider, say) as provider,
        proxy({"url": provider.url, **backend.settings}) as url,
        aiohttp.ClientSession() as session,
        session.post(url + surface.path, json=body) as response,
    ):
        error = (await response.json())["error"]
        assert error["message"]
        return response.status, error["code"]


@every_surface
@streamed_or_whole
async def test_what_a_backend_complains_of_is_named_as_the_surface_calls_it(
    surface_name: str, stream: bool
) -> None:
    surface, backend = SURFACES[surface_name], BACKENDS["chat"]
    refused = Say(status=400, refusal="Bad field: messages")
    async with (
        serving(backend.provider, refused) as provider,
        proxy({"url": provider.url, **backend.settings}) as url,
        aiohttp.ClientSession() as session,
        session.post(url + surface.path, json=surface.body(Ask(), backend.model, stream=stream)) as response,
    ):
        error = (await response.json())["error"]
    expected = "input" if surface_name == "responses" else "messages"
    assert (response.status, error["param"]) == (400, expected)
