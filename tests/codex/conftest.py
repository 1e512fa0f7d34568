"""The real Codex, the real proxy, and a scripted model: each a program of its own, talking over real sockets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.demo.wire import ChatRequest
from tests.codex.backend import Model, scripted_model
from tests.codex.harness import Codex
from tests.node import packages
from tests.support.programs import proxying


@pytest.fixture(scope="session")
def backend() -> Iterator[Model]:
    with scripted_model() as model:
        yield model


@pytest.fixture
def model(backend: Model) -> Iterator[Model]:
    """The model of one test. What it was asked must have been right, whatever else the test looks at."""
    backend.plays()
    yield backend
    for request in backend.requests:
        ChatRequest.model_validate(request)


@pytest.fixture(scope="session")
def shared_proxy(backend: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with proxying(backend.url, tmp_path_factory.mktemp("proxy")) as url:
        yield url


@pytest.fixture
def proxy(shared_proxy: str) -> str:
    """One for all tests, unless a file of tests has its reasons for more."""
    return shared_proxy


@pytest.fixture
def codex(proxy: str, model: Model, tmp_path: Path) -> Codex:
    return Codex([packages.required(), packages.CODEX], f"{proxy}/v1", tmp_path)
