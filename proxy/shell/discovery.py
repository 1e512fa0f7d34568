"""What stands behind the backend's URL: which profile it has, and which models.

The proxy recognises a known host at once. It asks any other when the first request needs the answer: for its models,
and then, with harmless questions, for what it is. It takes a backend that does not answer for an ordinary one and asks
again later; only the first requests wait for the answer.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from proxy.core import jsontext
from proxy.core.backends import listing, recognise
from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.recognise import ProbeAnswer
from proxy.core.backends.target import Target
from proxy.core.catalog import Catalog, ServedModel
from proxy.core.dialects.registry import get_ready, spoken_by
from proxy.core.errors import Fault
from proxy.core.profile import DEFAULT, BackendProfile, overridden
from proxy.shell.http.deadlines import NEVER
from proxy.shell.http.transport import Page, Transport
from proxy.shell.ops.fault_facts import facts_of
from proxy.shell.ops.logs import Log

QUESTION_SECONDS = 2.0
"""Local servers answer in milliseconds; the first request must not wait long for one that never will."""

ASK_AGAIN_SECONDS = 30.0
MODELS_SECONDS = 30.0
"""A list of models is fetched anew after this time: clients ask at every start, and local servers load new models."""

MAX_MODELS = 2_000
"""The longest known list, OpenRouter's, has some 400. Clients may use models beyond the limit, which are not listed."""


class Discovery:
    def __init__(
        self,
        target: Target,
        *,
        profile: str | None,
        overrides: Mapping[str, Any],
        catalog: Catalog,
        transport: Transport,
        clock: Callable[[], float],
        log: Log,
    ) -> None:
        """`profile`: the name of the configured one. Default: the proxy finds it out."""
        self._overrides = overrides
        self._catalog = catalog
        self._transport = transport
        self._clock = clock
        self._log = log
        self._lock = asyncio.Lock()
        known = profile or recognise.by_url(target.base_url)
        self._target = replace(target, profile=self._named(known), overrides=overrides)
        self._ask_at = NEVER if known else 0.0
        self._listed: Sequence[Mapping[str, Any]] = []
        self._list_at = 0.0
        self._served: list[ServedModel] = []
        self._served_by: Target | None = None
        """The backend as it was known when they were made; None if a newer list has come since."""

    @property
    def known(self) -> Target:
        """The backend as far as the proxy knows it without a question."""
        return self._target

    async def target(self) -> Target:
        """Returns the backend as it is known by now. Never raises, and waits only for the first answers."""
        if self._clock() >= self._ask_at:
            async with self._lock:
                if self._clock() >= self._ask_at:
                    await self._recognise()
        return self._target

    async def models(self) -> list[ServedModel]:
        """Lists the configured names, then the backend's other models. Returns the old list until something changes."""
        target = await self.target()
        async with self._lock:
            if self._clock() >= self._list_at:
                self._list_at = self._clock() + MODELS_SECONDS
                page = await self._get(_models_url(target))
                self._take(listing.entries(_json(page)) if page else [])
            if self._served_by is not target:
                self._served = listing.served(self._listed, target, self._catalog)
                self._served_by = target
        return self._served

    @property
    def list_url(self) -> str:
        """Where the list of models is, for people: without a query, which may hold a key."""
        return urlsplit(_models_url(self._target))._replace(query="").geturl()

    async def list_status(self) -> int:
        """Asks for the list of models once more. Raises Fault where all else here says nothing."""
        url = _models_url(self._target)
        return (await self._transport.fetch(url, self._target.head, QUESTION_SECONDS)).status

    def _take(self, listed: Sequence[Mapping[str, Any]]) -> None:
        if len(listed) > MAX_MODELS:
            self._log.warning("models_truncated", listed=len(listed), shown=MAX_MODELS)
        if (listed := listed[:MAX_MODELS]) != self._listed:
            self._listed = listed
            self._served_by = None

    async def _recognise(self) -> None:
        page = await self._find_models()
        if page is None:
            self._ask_at = self._clock() + ASK_AGAIN_SECONDS
            return
        self._ask_at = NEVER
        name = recognise.by_models(_json(page), page.headers) or await self._probe()
        self._target = replace(self._target, profile=self._named(name, root=self._target.profile.root))
        self._log.info("backend_recognised", profile=self._target.profile.name)

    async def _find_models(self) -> Page | None:
        """Fetches the list of models, or the page that the server has in its place."""
        page = await self._get(_models_url(self._target))
        if page is not None and page.status == 404:
            bare = replace(self._target, profile=replace(self._target.profile, root=""))
            other = (
                await self._get(_models_url(bare)) if _models_url(bare) != _models_url(self._target) else None
            )
            if other is not None and other.status == 200:
                self._target = bare
                return other
        return page

    async def _probe(self) -> str | None:
        parts = urlsplit(self._target.base_url)
        paths = [probe.path for probe in recognise.PROBES]
        pages = await asyncio.gather(*(self._get(f"{parts.scheme}://{parts.netloc}{path}") for path in paths))
        answers = {
            path: ProbeAnswer(page.status, _json(page))
            for path, page in zip(paths, pages, strict=True)
            if page
        }
        return recognise.by_probes(answers, parts.port)

    async def _get(self, url: str) -> Page | None:
        try:
            return await self._transport.fetch(url, self._target.head, QUESTION_SECONDS)
        except Fault as fault:
            self._log.debug("backend_silent", question=urlsplit(url).path, **facts_of(fault))
            return None

    def _named(self, name: str | None, root: str | None = None) -> BackendProfile:
        profile = PROFILES.get(name or "", DEFAULT)
        profile = profile if root is None else replace(profile, root=root)
        profile = overridden(profile, self._overrides)
        get_ready(profile)
        return profile


def _models_url(target: Target) -> str:
    return spoken_by(target.profile).models_url(target)


def _json(page: Page) -> Any:
    try:
        return jsontext.bounded(page.body)
    except jsontext.BadJson:
        return None
