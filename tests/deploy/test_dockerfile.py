"""The image, built by hand and run."""

import asyncio
import re
import signal
import subprocess
from pathlib import Path

import aiohttp

from tests.deploy.dockerfile import Stage, ignored
from tests.deploy.tools import said_by
from tests.support.processes import free_port
from tests.support.programs import started

USER = "proxy"
ASK = {"model": "demo", "input": "Hello"}


def test_it_runs_as_a_user_who_owns_nothing_but_its_directory(image: Stage) -> None:
    state = image.environment["STATE_DIRECTORY"]
    assert image.settings["USER"] == USER
    assert image.settings["VOLUME"] == state
    assert image.noted == [
        f"useradd --system --no-create-home --uid 10001 {USER}",
        f"install -d -m 0700 -o {USER} {image.here(state)}",
    ]
    assert Path(image.here(state)).stat().st_mode & 0o777 == 0o700


def test_it_has_the_program_and_its_packages_and_nothing_else(image: Stage) -> None:
    assert [path.name for path in (image.root / "app").iterdir()] == ["proxy"]
    for name in (".git", "tests", "scripts", "README.md", ".venv", "proxy.toml", ".env"):
        assert ignored(name)
    said_by(image.here("/venv/bin/python"), "-m", "pip", "check")


def test_it_has_the_program_compiled(image: Stage) -> None:
    """Whoever runs it may not write there, and would compile all of it at each start."""
    for source in (image.root / "app").rglob("*.py"):
        assert list((source.parent / "__pycache__").glob(f"{source.stem}.*.pyc")), source


async def test_it_serves_and_ends(image: Stage) -> None:
    """As its last steps say, but for the addresses."""
    variables = image.variables | {"PROXY_HOST": "127.0.0.1", "PROXY_PORT": str(free_port())}
    command = image.command("ENTRYPOINT") + image.command("CMD")
    python = image.here(f"/venv/bin/{command[0]}")
    place = Path(image.here(image.settings["WORKDIR"]))
    options, _, check = image.settings["HEALTHCHECK"].partition("CMD ")
    assert re.fullmatch(r"(--[a-z-]+=\d+s *)+", options.replace("\\", ""))
    asked = Stage(image.root, settings={"CMD": check}).command("CMD")

    def is_healthy() -> bool:
        done = subprocess.run([python, *asked[1:]], env=variables, capture_output=True, check=False)
        return done.returncode == 0

    async with started(python, *command[1:], cwd=place, env=variables) as proxy:
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{proxy.url}/v1/responses", json=ASK) as response,
        ):
            answer = await response.json()
        assert (answer["status"], answer["store"]) == ("completed", True)
        assert await asyncio.to_thread(is_healthy)
        proxy.signal(signal.SIGTERM)
        assert await proxy.ended() == 0
    assert not await asyncio.to_thread(is_healthy)
