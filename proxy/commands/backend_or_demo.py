"""The backends that the operator configured, or a demo model where there are none."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from proxy.settings.root import Settings

DEMO = "demo"
"""Name of the demo model that the example asks."""
UNKNOWN = "MODEL"
"""Stands for the name of a model where none is known."""
DEMO_ANSWERS = "No backend is configured, so a demo model answers. For another: --backend URL"


@asynccontextmanager
async def with_backend(settings: Settings) -> AsyncIterator[tuple[Settings, str]]:
    """Yields settings that have a backend, and a model of it. Starts the demo if the operator configured no backend."""
    if settings.all_backends:
        yield settings, next(iter(known_models(settings)), UNKNOWN)
        return
    from proxy import demo  # another program, and a twentieth of the time until this one listens

    server = await demo.start()
    told = {
        "url": server.url,
        "profile": demo.PROFILE,
        "overrides": settings.backend.overrides | demo.OVERRIDES,
    }
    backend = settings.backend.model_copy(update=told)
    try:
        yield settings.model_copy(update={"backend": backend}), DEMO
    finally:
        await server.stop()


def known_models(settings: Settings) -> list[str]:
    """Lists the model names that the configuration holds for clients."""
    return [
        *settings.routing.aliases,
        *(name for each in settings.all_backends.values() for name in each.models),
    ]
