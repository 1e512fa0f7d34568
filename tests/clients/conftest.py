"""Real clients need a real proxy: one process for the whole session, in front of the demo model."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import openai
import pytest

from proxy import demo
from tests.codex.backend import Model, scripted_model
from tests.support.processes import serving
from tests.support.programs import proxying

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = (
    "False"  # before it is imported, when it would begin to tell its maker
)

CONFIG = """
[backend]
url = "{url}"
profile = "{profile}"
"""


@pytest.fixture(scope="session")
def record() -> list[demo.Recorded]:
    """What the backend was asked, all tests together."""
    return []


@pytest.fixture
def asked(record: list[demo.Recorded]) -> list[demo.Recorded]:
    """What the backend was asked in this test."""
    record.clear()
    return record


@pytest.fixture(scope="session")
def backend(record: list[demo.Recorded]) -> Iterator[str]:
    """The demo model in a loop of its own, since the tests' loops come and go."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    started = asyncio.run_coroutine_threadsafe(demo.start(pace_s=0, record=record), loop).result()
    yield started.url
    asyncio.run_coroutine_threadsafe(started.stop(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture(scope="session")
def proxy(backend: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The proxy's own address, without /v1."""
    config: Path = tmp_path_factory.mktemp("proxy") / "proxy.toml"
    config.write_text(CONFIG.format(url=backend, profile=demo.PROFILE), encoding="utf-8")
    with serving("-m", "proxy", "serve", "--port", "0", "--config", config) as url:
        yield url


@pytest.fixture
def how(proxy: str) -> dict[str, Any]:
    """How every SDK is pointed at the proxy."""
    return {"base_url": f"{proxy}/v1", "api_key": "none", "max_retries": 0}


@pytest.fixture
def client(how: dict[str, Any]) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(**how) as client:
        yield client


# ── a model that says what it is told ──


@pytest.fixture(scope="session")
def scripted() -> Iterator[Model]:
    with scripted_model() as model:
        yield model


@pytest.fixture(scope="session")
def scripted_proxy(scripted: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with proxying(scripted.url, tmp_path_factory.mktemp("scripted")) as url:
        yield url


@pytest.fixture
def model(scripted: Model, scripted_proxy: str) -> Model:
    """The model of one test; its proxy has started, and has asked it whatever it wanted to know."""
    scripted.plays()
    return scripted


@pytest.fixture
def scripted_url(scripted_proxy: str, model: Model) -> str:
    return f"{scripted_proxy}/v1"
