"""The composition root: what is configured is what is used."""

import io
import logging
import socket
import sys
from collections.abc import Iterator
from typing import Any

import aiohttp
import orjson
import pytest

from proxy import app, configured
from proxy.core import jsontext
from proxy.core.markup import registry
from proxy.core.policy.shares import Shares
from proxy.core.weight import weight
from proxy.process import CannotListen
from proxy.settings.root import Settings
from proxy.shell.ops.logs import make_log
from tests.support.sockets import ScriptedBackend, answer, delta, reply, scripted, text
from tests.support.tables import table

LOG = make_log(stream=io.StringIO())


def settings(server: dict[str, Any] | None = None, **backend: Any) -> Settings:
    return Settings.model_validate(
        {
            "server": {"port": 0, "grace_seconds": 0} | (server or {}),
            "backend": {"url": "http://127.0.0.1:9/v1", "profile": "default"} | backend,
        }
    )


# ── the log ──


@pytest.fixture
def _root_logger_as_before() -> Iterator[None]:
    handlers, hook = logging.getLogger().handlers, sys.unraisablehook
    yield
    logging.getLogger().handlers = handlers
    sys.unraisablehook = hook


@pytest.mark.usefixtures("_root_logger_as_before")
def test_everything_is_logged_in_one_place_without_the_configured_secrets() -> None:
    stream = io.StringIO()
    wanted = settings(key="correct horse", headers={"X-Key": "battery staple"})
    app.start_log(wanted, stream).info("request", error="correct horse")
    logging.getLogger("aiohttp").warning("battery staple")
    own, library = map(orjson.loads, stream.getvalue().splitlines())
    assert (own["event"], library["event"]) == ("request", "library")
    assert "horse" not in stream.getvalue()
    assert "staple" not in stream.getvalue()


# ── where it listens ──


async def test_an_address_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            CannotListen, match=rf"127\.0\.0\.1:{port}: Address already in use\. Choose another port"
        ):
            async with app.running(settings({"port": port}), LOG):
                pass


async def test_a_name_that_is_none() -> None:
    with pytest.raises(CannotListen, match=r"nowhere\.invalid:.* Choose an address of this machine"):
        async with app.running(settings({"host": "nowhere.invalid", "open": True}), LOG):
            pass


async def test_the_newer_protocol() -> None:
    async with app.running(settings({"host": "::1"}), LOG) as url, aiohttp.ClientSession() as session:
        assert url.startswith("http://[::1]:")
        async with session.get(f"{url}/healthz") as response:
            assert response.status == 200


# ── what clients keep for us ──


async def kept(wanted: Settings) -> str:
    asked = {"model": "m", "input": "Hi", "include": ["reasoning.encrypted_content"]}
    async with (
        app.running(wanted, LOG) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/responses", json=asked) as response,
    ):
        output = (await response.json())["output"]
        return output[0]["encrypted_content"]


async def test_what_was_signed_before_a_restart_is_still_ours() -> None:
    """The same keys of backends are the same secret; one that is configured goes before them."""
    async with scripted() as backend:
        backend.answers(reply(delta(reasoning_content="Hm."), text("Hello")))
        own = {"signing_key": "a secret of our own"}
        one, another = {"key": "sk-0a1b2c3d4e5f6g7h8i9j"}, {"key": "sk-9a8b7c6d5e4f3g2h1i0j"}
        first, again, other_key, configured, configured_too = [
            await kept(settings(server, url=backend.url, **key))
            for server, key in ((None, one), (None, one), (None, another), (own, {}), (own, one))
        ]
    assert first == again
    assert len({first, other_key, configured}) == 3
    assert configured == configured_too


async def test_attack_06_where_nothing_is_secret_each_start_has_a_key_of_its_own() -> None:
    async with scripted() as backend:
        backend.answers(reply(delta(reasoning_content="Hm."), text("Hello")))
        first, again, known_key = [
            await kept(settings(url=backend.url, **key)) for key in ({}, {}, {"key": "EMPTY"})
        ]
    assert len({first, again, known_key}) == 3


async def test_reasoning_is_given_back_to_the_backend_that_it_came_from() -> None:
    """Through the whole proxy, with a summary that somebody has changed."""
    async with scripted() as backend:
        backend.answers(reply(delta(reasoning_content="Hm."), text("Hello")))
        wanted = settings(
            {"signing_key": "a secret of our own"},
            url=backend.url,
            overrides={"replay": "reasoning_content", "replay_scope": "all"},
        )
        item = {"type": "reasoning", "summary": [], "encrypted_content": await kept(wanted)}
        items = [{"role": "user", "content": "Hi"}, item, {"role": "assistant", "content": "Hello"}]
        async with app.running(wanted, LOG) as url, aiohttp.ClientSession() as session:
            await session.post(f"{url}/v1/responses", json={"model": "m", "input": items})
        assert backend.received[-1].json["messages"][1]["reasoning_content"] == "Hm."


# ── the backend ──


async def status_of(wanted: Settings) -> int:
    async with (
        app.running(wanted, LOG) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/responses", json={"model": "m", "input": "Hi"}) as response,
    ):
        return response.status


def paths(backend: ScriptedBackend) -> list[str]:
    return [asked.path for asked in backend.received]


async def test_a_backend_is_asked_what_it_is_unless_that_is_configured() -> None:
    async with scripted() as backend:
        backend.answers(reply(text("Hello")))
        assert await status_of(settings(url=backend.url, profile="vllm")) == 200
        assert paths(backend) == ["/v1/chat/completions"]

    async with scripted() as backend:
        backend.answers(answer(200, {"data": [{"id": "m", "owned_by": "vllm"}]}), reply(text("Hello")))
        assert await status_of(settings(url=backend.url, profile="auto")) == 200
        assert paths(backend) == ["/v1/models", "/v1/chat/completions"]


@pytest.mark.parametrize("overrides", [{}, {"markup_without": ["invoke"]}])
async def test_what_replies_are_searched_for_is_made_before_the_first_request(
    overrides: dict[str, Any],
) -> None:
    registry.openers.cache_clear()
    tool = {"type": "function", "name": "look"}
    async with scripted() as backend:
        backend.answers(reply(text("Hello")))
        async with (
            app.running(settings(url=backend.url, overrides=overrides), LOG) as url,
            aiohttp.ClientSession() as client,
        ):
            made = registry.openers.cache_info().misses
            body = {"model": "m", "input": "Look.", "tools": [tool]}
            async with client.post(f"{url}/v1/responses", json=body) as told:
                assert told.status == 200
    assert made == registry.openers.cache_info().misses == 1
    assert registry.openers.cache_info().hits == 1


@pytest.mark.usefixtures("_root_logger_as_before")
@table(("failure", "lines"), [(ValueError("a prompt"), 1), (SystemExit("the end of a thread"), 0)])
def test_what_python_can_tell_nobody_is_logged_without_its_words(
    failure: BaseException, lines: int, capsys: pytest.CaptureFixture[str]
) -> None:
    class Finalized:
        def __del__(self) -> None:
            raise failure

    stream = io.StringIO()
    app.start_log(settings(), stream)
    made = Finalized()
    del made
    told = [orjson.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in told] == ["ignored_exception"] * lines
    assert "a prompt" not in stream.getvalue()
    assert capsys.readouterr().err == ""


# ── memory ──


def test_one_developer_may_have_fifty_agents_at_work() -> None:
    """With 1 GiB eleven of them were told to try again, as long as the others' replies took."""
    words = "line of output\n" * 40
    item = {"type": "function_call_output", "call_id": "call_1", "output": words}
    parameters = {f"arg{number}": {"type": "string", "description": words[:90]} for number in range(8)}
    tool = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": parameters}}
    body = {"model": "m", "tools": [tool] * 100, "input": [item] * 3_400}
    size = len(jsontext.dumps(body))
    assert size > 2_300_000
    room = configured.MEMORY_BYTES - configured.MEMORY_BYTES // app.REMEMBERED_PART
    assert 50 * weight(body, size) < Shares(room).most
