"""Schemathesis reads the description that the running proxy serves, and asks for all that is in it, right and wrong.

Whatever it thinks of, no answer is a failure of ours, and each is one that was described (F72, S16).
"""

from collections.abc import Iterator

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.schemas import BaseSchema

from proxy.core.surfaces.openapi.document import document
from proxy.shell.serving.inspection import Inspection
from proxy.shell.serving.routes import ROUTES, WEBSOCKET
from tests.support.processes import serving
from tests.support.replies import read_stream

EXAMPLES = 12
"""For each way of asking: all of them take some fifteen seconds."""

DEMO = """
import asyncio
from proxy import demo

async def main():
    print((await demo.start(pace_s=0)).url, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
"""The demo model without the pauses that people like to watch."""

PROMPTLY = 10
METHODS = ("get", "post", "delete")
OPERATIONS = [
    (method.upper(), path)
    for path, described in document()["paths"].items()
    for method in METHODS
    if method in described
]
RESPONSES = "/v1/responses"
STREAMING = (RESPONSES, "/v1/chat/completions", "/native/v1/chat/completions")
load_all_checks()
HELD_TO = [
    CHECKS.get_one(name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
    )
]


@pytest.fixture(scope="module")
def described() -> Iterator[BaseSchema]:
    with (
        serving("-c", DEMO) as demo,
        serving(
            "-m", "proxy", "serve", "--port", "0", "--log-level", "error", "--backend", f"{demo}/v1"
        ) as url,
    ):
        yield schemathesis.openapi.from_url(f"{url}/openapi.json")


@pytest.mark.properties
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_every_answer_to_what_is_right_is_as_described(described: BaseSchema, method: str, path: str) -> None:
    hold(described[path][method].as_strategy(generation_mode=GenerationMode.POSITIVE))


@pytest.mark.properties
@pytest.mark.parametrize("path", STREAMING)
def test_every_stream_is_as_described(described: BaseSchema, path: str) -> None:
    """E2."""
    asked = described[path]["POST"].as_strategy(generation_mode=GenerationMode.POSITIVE)
    hold(asked.map(streamed), strictly=path == RESPONSES)


def streamed(case: Case) -> Case:
    assert isinstance(case.body, dict)
    case.body["stream"] = True
    return case


@pytest.mark.properties
@pytest.mark.parametrize(
    ("method", "path"),
    [
        (method, path)
        for method, path in OPERATIONS
        if {"requestBody", "parameters"} & document()["paths"][path][method.lower()].keys()
    ],
)
def test_every_answer_to_what_is_wrong_is_as_described(described: BaseSchema, method: str, path: str) -> None:
    """F72, S16, S19."""
    hold(described[path][method].as_strategy(generation_mode=GenerationMode.NEGATIVE))


def hold(cases: SearchStrategy[Case], *, strictly: bool = False) -> None:
    """`strictly`: a stream of responses is also read by our strictest client."""

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def ask(case: Case) -> None:
        case.call_and_validate(checks=HELD_TO)
        if strictly:  # Schemathesis leaves after twenty events
            response = requests.request(**case.as_transport_kwargs(), timeout=PROMPTLY)
            if response.ok:
                read_stream(response.content)

    ask()


def test_every_route_is_described_and_every_description_leads_somewhere() -> None:
    paths = [(path.replace("{id}", "x").replace("{item}", "y"), method) for method, path in OPERATIONS]
    for pattern, handlers, _, of in ROUTES:
        if of is Inspection:
            continue  # a page for people; its data are its own
        methods = {method for path, method in paths if pattern.fullmatch(path) and _leads(path) is pattern}
        assert methods == handlers.keys() - {WEBSOCKET, "HEAD"}, pattern.pattern
    assert all(_leads(path) for path, _ in paths)


def _leads(path: str) -> object:
    """The first that fits, as for a request."""
    return next((pattern for pattern, *_ in ROUTES if pattern.fullmatch(path)), None)
