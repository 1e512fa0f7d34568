"""Two proxies with the variables of the compose file, behind nginx itself: what streams, streams."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest
import pytest_asyncio

from proxy.core import jsontext
from tests.deploy.compose import GIVEN, filled, of_the_image, read
from tests.deploy.nginx import nginx
from tests.support.background import FollowingClient
from tests.support.postgres import BIN, Server
from tests.support.processes import ROOT, free_port
from tests.support.programs import SECONDS, Process, started
from tests.support.proxies import LogLines, Proxy, names
from tests.support.sockets import (
    END,
    HEAD,
    PROMPTLY,
    Line,
    ScriptedBackend,
    answer,
    finish,
    reply,
    scripted,
    text,
)
from tests.support.websockets import Talk

pytestmark = pytest.mark.asyncio(loop_scope="module")

COMMAND = (sys.executable, "-m", "proxy", "serve")
MIB = 1 << 20
JSON = {"Content-Type": "application/json"}


class Model:
    """It answers at once, but for what it is told."""

    def __init__(self) -> None:
        self.goes_on = asyncio.Event()
        self.left = asyncio.Event()

    async def __call__(self, line: Line) -> None:
        while True:
            request = await line.request()
            if request.method == "GET":
                line.send(answer(404))
                continue
            match request.json["messages"][-1]["content"]:
                case "Pause":
                    line.send(HEAD, text("Hel"))
                    await self.goes_on.wait()
                    line.send(text("lo"), finish(), END)
                case "Stay":
                    line.send(HEAD, text("Hel"))
                    await line.closed()
                    self.left.set()
                    return
                case _:
                    line.send(reply(text("Hello")))


@pytest.fixture(scope="module")
def model() -> Model:
    return Model()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def backend(model: Model) -> AsyncIterator[ScriptedBackend]:
    async with scripted(model) as backend:
        yield backend


class Project:
    def __init__(self, proxies: dict[str, Process], front: Proxy, variables: dict[str, str]) -> None:
        self.proxies = proxies
        self.front = front
        self.variables = variables
        """Of a proxy, besides its address."""

    def alone(self, name: str) -> Proxy:
        return Proxy(self.proxies[name].url, LogLines(), self.front.session)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def project(
    backend: ScriptedBackend, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Project]:
    tmp_path = tmp_path_factory.mktemp("project")
    services = filled(read(), GIVEN | {"PROXY_BACKEND_URL": backend.url})["services"]
    of_all = dict(pair.split("=") for line in of_the_image("ENV") for pair in line.split() if "PROXY" in pair)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(database(services["postgres"]["environment"]))
        proxies = {}
        for name in ("proxy-1", "proxy-2"):
            variables = of_all | services[name]["environment"]
            store = variables["PROXY_STORE_URL"].replace("@postgres/", f"@127.0.0.1:{server.port}/")
            variables |= {"PROXY_HOST": "127.0.0.1", "PROXY_STORE_URL": store}
            variables |= {"PROXY_PORT": str(free_port())}
            proxies[name] = await stack.enter_async_context(started(*COMMAND, env=variables))
        addresses = [process.url.removeprefix("http://") for process in proxies.values()]
        url = await asyncio.to_thread(stack.enter_context, nginx(tmp_path, addresses))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        yield Project(proxies, Proxy(url, LogLines(), session), variables)


@asynccontextmanager
async def database(variables: dict[str, str]) -> AsyncIterator[Server]:
    """A server that the variables of its image would have made."""
    user, name = variables["POSTGRES_USER"], variables["POSTGRES_DB"]
    server = Server()
    server.make()
    rules = server.data / "pg_hba.conf"
    asking = f"host all {user} 127.0.0.1/32 scram-sha-256\n"
    await asyncio.to_thread(lambda: rules.write_text(asking + rules.read_text("ascii"), "ascii"))
    server.start()
    try:
        await server.ready()
        await server.execute(f"create user {user} password '{variables['POSTGRES_PASSWORD']}'")
        await server.execute(f"create database {name} owner {user}")
        yield server
    finally:
        await asyncio.to_thread(server.remove)


async def asked(proxy: Proxy, **body: Any) -> dict[str, Any]:
    data = BytesIO(jsontext.dumps({"model": "m", "input": "Hi"} | body))
    async with proxy.session.post(f"{proxy.url}/v1/responses", data=data, headers=JSON) as response:
        assert response.status == 200, await response.text()
        found: dict[str, Any] = await response.json()
        return found


async def test_an_event_arrives_when_it_is_said(model: Model, project: Project) -> None:
    """The model goes on when its first word has been read through nginx."""
    async with project.front.post({"model": "m", "input": "Pause", "stream": True}) as response:
        stream = FollowingClient(response)
        await stream.until_text("Hel")
        model.goes_on.set()
        assert names(await stream.all())[-2:] == ["response.completed", "done"]


async def test_who_leaves_nginx_leaves_the_model(model: Model, project: Project) -> None:
    async with project.front.post({"model": "m", "input": "Stay", "stream": True}) as response:
        await FollowingClient(response).until_text("Hel")
    async with asyncio.timeout(PROMPTLY):
        await model.left.wait()


async def test_a_websocket_goes_through(project: Project) -> None:
    async with project.front.session.ws_connect(f"{project.front.url}/v1/responses") as socket:
        talk = Talk(socket)
        for _ in range(2):
            await talk.ask()
            while (said := await talk.next())["type"] != "response.completed":
                assert said["type"] != "error", said


async def test_a_large_request_goes_through(project: Project) -> None:
    assert (await asked(project.front, input="x" * 3 * MIB, store=False))["status"] == "completed"


async def test_the_database_is_healthy_when_it_answers(project: Project) -> None:
    """By the check of the compose file, on the port that it has here."""
    kind, program, *arguments = read()["services"]["postgres"]["healthcheck"]["test"]
    assert kind == "CMD"
    check = (BIN / program, *arguments)

    def answers(port: int) -> bool:
        return (
            subprocess.run([*check, f"--port={port}"], stdout=subprocess.DEVNULL, check=False).returncode == 0
        )

    port = urlsplit(project.variables["PROXY_STORE_URL"]).port
    assert port is not None
    assert await asyncio.to_thread(answers, port)
    assert not await asyncio.to_thread(answers, free_port())


async def test_who_has_a_wrong_password_does_not_start_and_the_others_serve(project: Project) -> None:
    """U63: a rollout stops there."""
    for wrong in ({"PGPASSWORD": "another"}, {"PROXY_STORE_URL": f"{project.variables['PROXY_STORE_URL']}2"}):
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            cwd=ROOT,
            env={"PATH": os.environ["PATH"]} | project.variables | {"PROXY_PORT": "0"} | wrong,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        _, said = await asyncio.wait_for(process.communicate(), SECONDS)
        assert process.returncode == 1
        assert b"Correct store.url" in said or b"does not exist" in said
        assert GIVEN["POSTGRES_PASSWORD"].encode() not in said
    assert (await asked(project.front))["store"] is True


async def test_what_one_keeps_the_other_has(project: Project) -> None:
    """And both continue it."""
    first = await asked(project.alone("proxy-1"))
    second = await asked(project.alone("proxy-2"), previous_response_id=first["id"])
    async with project.front.session.get(f"{project.front.url}/v1/responses/{second['id']}") as response:
        assert (await response.json())["previous_response_id"] == first["id"]


# Last, because it stops one of them.


async def test_without_one_the_other_answers_all(project: Project) -> None:
    """Nobody sees that nginx could not reach it."""
    project.proxies["proxy-1"].signal(signal.SIGTERM)
    assert await project.proxies["proxy-1"].ended() == 0
    assert {(await asked(project.front))["status"] for _ in range(6)} == {"completed"}
