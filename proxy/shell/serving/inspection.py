"""The inspector over HTTP: its page, and its data for those who may see them."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from proxy.core.errors import NotFound
from proxy.shell.http.answers import HttpAnswer, answer, text
from proxy.shell.http.connection import connection_of
from proxy.shell.inspector.door import Door
from proxy.shell.inspector.files import HEADERS, INDEX, all_files
from proxy.shell.inspector.gatherer import Gatherer
from proxy.shell.inspector.store_lookup import StoreLookup
from proxy.shell.serving.handlers import Incoming

OFF: Final = "The inspector is switched off here: see inspector.enabled in the settings."


class Inspection:
    def __init__(
        self, gatherer: Gatherer | None, door: Door | None, lookup: StoreLookup, about: Mapping[str, Any]
    ) -> None:
        """`gatherer`: None if the door is open to nobody. `door`: None if the inspector is switched off. `about`: what
        the page is told of the settings."""
        self._gatherer = gatherer
        self._door = door
        self._lookup = lookup
        self._about = about

    async def page(self, incoming: Incoming) -> HttpAnswer:
        """Holds no data, so that whoever has a key has somewhere to write it."""
        return await self.file(incoming, INDEX)

    async def file(self, incoming: Incoming, file: str) -> HttpAnswer:
        self._on()
        found = all_files().get(file)
        if found is None:
            raise _nothing()
        return _guarded(text(found.body, found.content_type, incoming.id))

    async def requests(self, incoming: Incoming) -> HttpAnswer:
        news = await self._let_in(incoming).requests(incoming.request.query.get("since", ""))
        return _guarded(answer({**news, "settings": self._about}, incoming.id))

    async def standing(self, incoming: Incoming) -> HttpAnswer:
        workers = await self._let_in(incoming).standing()
        return _guarded(answer({"workers": workers, "shared": self._about["shared"]}, incoming.id))

    async def request(self, incoming: Incoming) -> HttpAnswer:
        found = await self._let_in(incoming).request(incoming.request.query.get("id", ""))
        if found is None:
            raise _forgotten()
        return _guarded(answer(found, incoming.id))

    async def content(self, incoming: Incoming) -> HttpAnswer:
        query = incoming.request.query
        attempt = query.get("attempt", "-1")
        number = int(attempt) if attempt.isascii() and attempt.isdecimal() and len(attempt) < 4 else -1
        found = await self._let_in(incoming).content(query.get("id", ""), number)
        return _guarded(answer(found, incoming.id))

    async def stored(self, incoming: Incoming) -> HttpAnswer:
        self._let_in(incoming)
        query = incoming.request.query
        found = await self._lookup.find(query.get("tenant", ""), query.get("id", ""))
        if found is None:
            raise NotFound(
                "The store of this proxy has nothing by this id for this tenant.", code="not_found"
            )
        return _guarded(answer(found, incoming.id))

    async def start(self) -> None:
        if self._gatherer is not None:
            await self._gatherer.start()

    def stop(self) -> None:
        if self._gatherer is not None:
            self._gatherer.stop()

    def _on(self) -> Door:
        if self._door is None:
            raise NotFound(OFF, code="not_found")
        return self._door

    def _let_in(self, incoming: Incoming) -> Gatherer:
        request = incoming.request
        address = str((connection_of(request).peername or ("",))[0])
        self._on().check(request.headers, request.host, address)
        assert self._gatherer is not None, "a door that lets somebody in leads somewhere"
        return self._gatherer

    DATA: Final[Mapping[str, Callable[..., Awaitable[HttpAnswer]]]] = {
        "requests": requests,
        "request": request,
        "content": content,
        "standing": standing,
        "stored": stored,
    }
    """The methods behind `/inspector/data`, by the last word of their paths."""


def _guarded(response: HttpAnswer) -> HttpAnswer:
    response.headers.update(HEADERS)
    return response


def _nothing() -> NotFound:
    return NotFound("There is no such file of the inspector.", code="not_found")


def _forgotten() -> NotFound:
    return NotFound(
        "This request is not here: it is too old, or its worker has ended. inspector.requests says how many are kept.",
        code="not_found",
    )
