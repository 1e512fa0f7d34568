"""One client's conversation with the whole proxy, round by round."""

import io
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp

from proxy import app
from proxy.core import jsontext
from proxy.settings.root import Settings
from proxy.shell.ops.logs import make_log
from tests.contract.cases import Ask, Round
from tests.contract.responses import Responses
from tests.contract.surfaces import Answer, Surface, error
from tests.support.replies import TERMINAL

KEY = {"key": "a key"}
"""For backends: some take nobody without."""
PROMPTLY = 20.0


class Conversation:
    def __init__(
        self, surface: Surface, ask: Ask, model: str, *, stream: bool, key: str | None = None
    ) -> None:
        """`key`: who asks. What is changed in the `body` stays so from then on."""
        self._surface = surface
        self._stream = stream
        self.body = surface.body(ask, model, stream=stream)
        self._own_headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._carried: Mapping[str, str] = {}

    async def round(self, url: str, this: Round, model: str | None = None) -> Answer:
        """What comes back from tools goes into the next round, the last call's result first. `model`: from now on."""
        self.body |= {"model": model} if model else {}
        answer = await self._asked(url + self._surface.path)
        self._carried = answer.carried
        if answer.calls and this.results:
            results = [(call_id, name, this.results[name]) for call_id, name in reversed(answer.calls)]
            self.body = self._surface.next(self.body, answer, results)
        return answer

    async def _asked(self, url: str) -> Answer:
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, json=self.body, headers={**self._own_headers, **self._carried}) as response,
        ):
            data = await response.read()
            if response.status != 200:
                return error(response.status, jsontext.strict(data), response.headers)
            if self._stream:
                assert response.content_type == "text/event-stream"
                return self._surface.streamed(data, response.headers)
            return replace(
                self._surface.whole(jsontext.strict(data), response.headers), headers=response.headers
            )


class SocketConversation(Conversation):
    """The same over a WebSocket, which is opened anew for each round. It has the Responses surface only."""

    def __init__(self, ask: Ask, model: str, *, key: str | None = None) -> None:
        self._responses = Responses()
        super().__init__(self._responses, ask, model, stream=True, key=key)

    async def _asked(self, url: str) -> Answer:
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(url, headers=self._own_headers) as socket,
        ):
            await socket.send_json({"type": "response.create", **self.body})
            while True:
                said = await socket.receive_json(timeout=PROMPTLY)
                if said["type"] == "error" and "status" in said:
                    return error(said["status"], {"error": said["error"]}, said.get("headers", {}))
                if said["type"] in TERMINAL:
                    return self._responses.whole(said["response"], {})


@asynccontextmanager
async def proxy(backend: Mapping[str, Any] | None = None, **sections: Any) -> AsyncIterator[str]:
    """The address of one with these settings for its one backend, or for all else; it may make no mistake."""
    sections["store"] = {"url": "memory:"} | sections.get("store", {})
    sections["server"] = {"port": 0, "grace_seconds": 0} | sections.get("server", {})
    only = {"backend": KEY | backend} if backend else {}
    settings = Settings.model_validate({**only, **sections})
    mistakes = io.StringIO()
    try:
        async with app.running(settings, make_log("error", "json", stream=mistakes)) as url:
            yield url
    except AssertionError as failure:
        failure.add_note(mistakes.getvalue())
        raise
    assert not mistakes.getvalue()
