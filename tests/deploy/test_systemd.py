"""The unit: as systemd reads it, and its program as it would be run."""

import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

from proxy.commands.command import MISUSED
from proxy.settings.root import Settings
from tests.deploy.tools import FILES, left_out
from tests.support.processes import ROOT
from tests.support.programs import started

UNIT = FILES / "responses-proxy.service"
PROGRAM = "/opt/responses-proxy/bin/responses-proxy"


@pytest.fixture(scope="module")
def service() -> dict[str, list[str]]:
    """The keys of its main section, which may come more than once."""
    found: dict[str, list[str]] = {}
    section = ""
    for line in UNIT.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line
        elif line and not line.startswith("#") and section == "[Service]":
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def test_systemd_understands_every_line(tmp_path: Path) -> None:
    """With a program that is there."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        left_out("systemd-analyze is not on this machine")
    unit = tmp_path / UNIT.name
    text = UNIT.read_text(encoding="utf-8").replace(PROGRAM, sys.executable)
    unit.write_text(text, encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DynamicUser", "yes"),
        ("StateDirectory", "responses-proxy"),
        ("StateDirectoryMode", "0700"),
        ("KillMode", "mixed"),
        ("Restart", "on-failure"),
        ("RestartPreventExitStatus", str(MISUSED)),
        ("LimitNOFILE", "65536"),
        ("ProtectSystem", "strict"),
        ("TimeoutStopSec", f"{Settings().server.grace_seconds + 15:g}"),
    ],
)
def test_it_promises(service: dict[str, list[str]], name: str, value: str) -> None:
    assert service[name] == [value]


async def test_its_program_runs_as_it_says(service: dict[str, list[str]], tmp_path: Path) -> None:
    """With the settings that systemd hands it as a credential, and the directory that systemd makes."""
    credentials, state = tmp_path / "credentials", tmp_path / "state"
    credentials.mkdir()
    state.mkdir(mode=0o700)
    (credential,) = service["LoadCredential"]
    (credentials / credential.split(":")[0]).write_text("[server]\nport = 0\nworkers = 2", encoding="utf-8")
    variables = dict(line.replace("%d", str(credentials)).split("=", 1) for line in service["Environment"])
    variables |= {"STATE_DIRECTORY": str(state), "CREDENTIALS_DIRECTORY": str(credentials)}
    program, *arguments = shlex.split(service["ExecStart"][0])
    assert program == PROGRAM
    command = (sys.executable, "-m", "proxy", *arguments)
    async with started(*command, cwd=ROOT, env=variables) as process:
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{process.url}/v1/responses", json={"model": "demo", "input": "Hi"}) as response,
        ):
            assert (await response.json())["store"] is True
        process.signal(signal.SIGTERM)
        assert await process.ended() == 0
    assert (state / "state.db").exists()


def test_the_program_is_where_the_page_installs_it() -> None:
    page = (ROOT / ".github" / "docs" / "deployment.md").read_text(encoding="utf-8")
    assert str(Path(PROGRAM).parent / "pip") in page
