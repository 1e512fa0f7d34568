"""What stands behind a URL is found out once, when it is needed, and nobody waits for it long."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from proxy.core.backends.target import Target
from proxy.core.catalog import Catalog, ServedModel
from proxy.core.profile import DEFAULT
from proxy.shell import discovery as module
from proxy.shell.discovery import ASK_AGAIN_SECONDS, MAX_MODELS, MODELS_SECONDS, Discovery
from proxy.shell.http.upstream import Upstream
from proxy.shell.ops.logs import make_log
from tests.support.clocks import Clock
from tests.support.proxies import LogLines
from tests.support.sockets import Line, ScriptedBackend, answer

VLLM = {"data": [{"id": "qwen", "owned_by": "vllm"}]}
PLAIN = {"data": [{"id": "qwen"}, {"id": "llama", "created": 7, "owned_by": "meta"}]}


class Site:
    """A backend that has some pages."""

    def __init__(self, backend: ScriptedBackend, **pages: Any) -> None:
        self.pages = {f"/{path}": page for path, page in pages.items()}
        self._backend = backend
        backend.plays(self._play)

    async def _play(self, line: Line) -> None:
        while True:
            asked = await line.request()
            page = self.pages.get(asked.path)
            line.send(answer(404, {"error": {}}) if page is None else answer(200, page))

    @property
    def asked(self) -> list[str]:
        return [asked.path for asked in self._backend.received]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log() -> LogLines:
    return LogLines()


Make = Callable[..., Discovery]


@pytest.fixture
async def make(clock: Clock, log: LogLines) -> AsyncIterator[Make]:
    upstream = Upstream("0")

    def make(
        url: str,
        *,
        profile: str | None = None,
        overrides: Any = None,
        catalog: Catalog | None = None,
        **more: Any,
    ) -> Discovery:
        return Discovery(
            Target("backend", url, DEFAULT, **more),
            profile=profile,
            overrides=overrides or {},
            catalog=catalog or Catalog(),
            transport=upstream,
            clock=clock,
            log=make_log("debug", "json", stream=log.stream),
        )

    yield make
    await upstream.close()


async def recognised(discovery: Discovery) -> str:
    return (await discovery.target()).profile.name


# ── which backend it is ──


async def test_a_known_host_is_recognised_without_a_question(make: Make) -> None:
    assert await recognised(make("https://api.deepseek.com")) == "deepseek"


async def test_a_configured_profile_is_believed(make: Make, backend: ScriptedBackend) -> None:
    assert await recognised(make(backend.url, profile="sglang")) == "sglang"
    assert backend.received == []


async def test_an_unknown_host_is_recognised_by_its_models(
    make: Make, backend: ScriptedBackend, log: LogLines
) -> None:
    site = Site(backend)
    site.pages["/v1/models"] = VLLM
    assert await recognised(make(backend.url)) == "vllm"
    assert site.asked == ["/v1/models"]
    assert log.named("backend_recognised")[0]["profile"] == "vllm"


async def test_the_key_goes_along_since_lists_are_often_guarded(make: Make, backend: ScriptedBackend) -> None:
    Site(backend)
    await make(backend.url, key="k-1", headers={"X-Team": "a"}).target()
    assert backend.received[0].headers["authorization"] == "Bearer k-1"
    assert backend.received[0].headers["x-team"] == "a"


async def test_a_host_whose_models_tell_nothing_is_probed(make: Make, backend: ScriptedBackend) -> None:
    site = Site(backend, props={"default_generation_settings": {}})
    site.pages["/v1/models"] = PLAIN
    assert await recognised(make(backend.url)) == "llamacpp"
    assert set(site.asked) > {"/v1/models", "/props", "/version"}


async def test_a_host_that_nothing_is_known_of_is_an_ordinary_one(
    make: Make, backend: ScriptedBackend
) -> None:
    Site(backend)
    assert await recognised(make(backend.url)) == "default"


async def test_an_answer_that_is_no_json_is_an_answer(make: Make, backend: ScriptedBackend) -> None:
    backend.answers(answer(200, b"<html>", Content_Type="text/html"))
    assert await recognised(make(backend.url)) == "default"


async def test_a_url_without_a_path_is_tried_with_and_without_a_version(
    make: Make, backend: ScriptedBackend
) -> None:
    site = Site(backend, models=VLLM)
    target = await make(backend.root).target()
    assert site.asked == ["/v1/models", "/models"]
    assert (target.profile.name, target.profile.root) == ("vllm", "")


@pytest.mark.parametrize("path", ["", "/v1"])
async def test_a_host_without_a_list_keeps_the_usual_root(
    make: Make, backend: ScriptedBackend, path: str
) -> None:
    Site(backend)
    assert (await make(backend.root + path).target()).profile.root == "/v1"


async def test_overrides_have_the_last_word(make: Make, backend: ScriptedBackend) -> None:
    site = Site(backend)
    site.pages["/v1/models"] = VLLM
    discovery = make(backend.url, overrides={"max_tools": 3})
    assert (await discovery.target()).profile.max_tools == 3
    assert (await make("https://api.openai.com", overrides={"max_tools": 3}).target()).profile.max_tools == 3


async def test_the_question_is_asked_once_for_all_who_wait(make: Make, backend: ScriptedBackend) -> None:
    site = Site(backend)
    site.pages["/v1/models"] = VLLM
    discovery = make(backend.url)
    names = await asyncio.gather(*(recognised(discovery) for _ in range(5)))
    assert names == ["vllm"] * 5
    assert site.asked == ["/v1/models"]


async def test_a_backend_that_is_not_there_is_an_ordinary_one_until_it_is_asked_again(
    make: Make, backend: ScriptedBackend, clock: Clock, log: LogLines
) -> None:
    site = Site(backend)
    site.pages["/v1/models"] = VLLM
    await backend.stop()
    discovery = make(backend.url)
    assert await recognised(discovery) == "default"
    assert log.named("backend_silent")
    await backend.start(urlsplit(discovery._target.base_url).port)
    assert await recognised(discovery) == "default"
    clock.now += ASK_AGAIN_SECONDS
    assert await recognised(discovery) == "vllm"


async def test_a_backend_that_hangs_is_not_waited_for(
    make: Make, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUESTION_SECONDS", 0.05)

    async def hangs(line: Line) -> None:
        await line.request()
        await line.closed()

    backend.plays(hangs)
    assert await recognised(make(backend.url)) == "default"


async def test_whoever_leaves_while_it_is_found_out_takes_nothing_along(
    make: Make, backend: ScriptedBackend
) -> None:
    """A client that leaves in the first second must not leave the others waiting."""
    asked, goes_on = asyncio.Event(), asyncio.Event()

    async def slow(line: Line) -> None:
        await line.request()
        asked.set()
        await goes_on.wait()
        line.send(answer(200, VLLM))

    backend.plays(slow)
    discovery = make(backend.url)
    start: Callable[[Awaitable[str]], asyncio.Task[str]] = asyncio.get_running_loop().create_task
    leaving, staying = start(recognised(discovery)), start(recognised(discovery))
    await asked.wait()
    leaving.cancel()
    goes_on.set()
    assert await staying == "vllm"


# ── which models it has ──


async def test_configured_names_come_first_then_the_backends_own(
    make: Make, backend: ScriptedBackend
) -> None:
    site = Site(backend)
    site.pages["/v1/models"] = PLAIN
    models = await make(backend.url, models={"gpt-5": "llama", "qwen": "qwen"}).models()
    assert models == [
        ServedModel("gpt-5", created=7, owned_by="meta"),
        ServedModel("qwen", created=0, owned_by="backend"),
        ServedModel("llama", created=7, owned_by="meta"),
    ]


async def test_a_list_is_believed_for_a_while(make: Make, backend: ScriptedBackend, clock: Clock) -> None:
    site = Site(backend)
    site.pages["/v1/models"] = PLAIN
    discovery = make(backend.url, profile="default")
    for _ in range(3):
        await discovery.models()
    assert site.asked == ["/v1/models"]
    site.pages["/v1/models"] = VLLM
    clock.now += MODELS_SECONDS
    assert [model.name for model in await discovery.models()] == ["qwen"]


async def test_attack_25_models_are_made_once_for_each_list(
    make: Make, backend: ScriptedBackend, clock: Clock
) -> None:
    site = Site(backend)
    site.pages["/v1/models"] = PLAIN
    discovery = make(backend.url, profile="default")
    first = await discovery.models()
    clock.now += MODELS_SECONDS
    assert await discovery.models() is first, "the same list again"
    site.pages["/v1/models"] = VLLM
    clock.now += MODELS_SECONDS
    assert await discovery.models() is not first


async def test_attack_25_no_list_is_endless(make: Make, backend: ScriptedBackend) -> None:
    backend.answers(answer(200, {"data": [{"id": f"m{number}"} for number in range(MAX_MODELS + 1)]}))
    models = await make(backend.url, profile="default", models={"mine": "m0"}).models()
    assert (len(models), models[0].name, models[-1].name) == (MAX_MODELS + 1, "mine", f"m{MAX_MODELS - 1}")


async def test_while_the_backend_is_down_there_are_the_configured_names(
    make: Make, backend: ScriptedBackend
) -> None:
    await backend.stop()
    models = await make(backend.url, profile="default", models={"gpt-5": "qwen"}).models()
    assert [model.name for model in models] == ["gpt-5"]
    await backend.start()


@pytest.mark.parametrize("listing", [{"data": [{"id": None}, {"name": "x"}, 3]}, {"data": 3}, [], "x", None])
async def test_a_strange_list_is_no_accident(make: Make, backend: ScriptedBackend, listing: Any) -> None:
    backend.answers(answer(200, listing))
    assert await make(backend.url, profile="default").models() == []


SIZED = {
    "data": [{"id": "small", "max_model_len": 8192}, {"id": "large", "max_model_len": 131072}, {"id": "?"}]
}


async def windows(discovery: Discovery) -> dict[str, int | None]:
    return {model.name: model.window for model in await discovery.models()}


async def test_the_context_window_is_what_the_backend_tells(make: Make, backend: ScriptedBackend) -> None:
    backend.answers(answer(200, SIZED))
    discovery = make(backend.url, profile="default", models={"mine": "small"})
    assert await windows(discovery) == {"mine": 8192, "small": 8192, "large": 131072, "?": None}


async def test_a_configured_window_wins_and_a_star_stands_for_what_nobody_tells(
    make: Make, backend: ScriptedBackend
) -> None:
    backend.answers(answer(200, SIZED))
    catalog = Catalog(windows={"*": 32768, "large": 65536})
    discovery = make(backend.url, profile="default", catalog=catalog)
    assert await windows(discovery) == {"small": 8192, "large": 65536, "?": 32768}


@pytest.mark.parametrize(
    ("efforts", "overrides", "expected"),
    [
        ({}, {}, {"a": (), "b": ()}),
        (
            {},
            {"effort_field": "reasoning_effort"},
            {"a": ("low", "medium", "high")} | {"b": ("low", "medium", "high")},
        ),
        ({"a": ["high"]}, {}, {"a": ("high",), "b": ()}),
        ({"a": [], "*": ["low"]}, {"effort_field": "thinking"}, {"a": (), "b": ("low",)}),
    ],
)
async def test_efforts_are_those_configured_or_those_that_the_backend_can_be_told(
    make: Make, backend: ScriptedBackend, efforts: Any, overrides: Any, expected: Any
) -> None:
    backend.answers(answer(200, {"data": [{"id": "a"}, {"id": "b"}]}))
    discovery = make(backend.url, profile="default", catalog=Catalog(efforts=efforts), overrides=overrides)
    assert {model.name: model.efforts for model in await discovery.models()} == expected


async def test_a_model_that_sees_nothing_is_known_by_its_profile(
    make: Make, backend: ScriptedBackend
) -> None:
    backend.answers(answer(200, {"data": [{"id": "a"}]}))
    (seeing,) = await make(backend.url, profile="default").models()
    (blind,) = await make(backend.url, profile="default", overrides={"images": "none"}).models()
    assert (seeing.images, blind.images) == (True, False)
