"""Codex with the proxy as its provider: what it is told, and what runs. `tests/codex` has the real one."""

import asyncio
import os
import shlex
import signal
import sys
import tomllib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from proxy.commands import codex_program as codex
from tests.support.processes import serving
from tests.support.sockets import ScriptedBackend, answer, reply, scripted, text

ROOT = Path(__file__).parents[2]
PROMPTLY = 20.0
NOBODY = "http://127.0.0.1:9"

# ── what it is told ──


def test_the_lines_to_paste_are_toml_and_leave_nothing_to_fill_in() -> None:
    told = tomllib.loads(codex.config("http://h:1", 'a"b'))
    assert (told["model"], told["model_provider"]) == ('a"b', "responses-proxy")
    assert told["model_providers"]["responses-proxy"] == codex.provider("http://h:1")
    assert told["model_providers"]["responses-proxy"]["base_url"] == "http://h:1/v1"


def test_a_model_that_the_user_names_to_codex_is_not_overridden() -> None:
    assert codex.names_a_model(["exec", "-m", "x"])
    assert codex.names_a_model(["--model=x"])
    assert not codex.names_a_model(["exec", "--json", "the -m option"])
    assert not [word for word in codex.overrides("http://h", None) if word.startswith("model=")]


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        ({}, "127.0.0.1,localhost,::1"),
        ({"no_proxy": ".corp"}, ".corp,127.0.0.1,localhost,::1"),
        ({"NO_PROXY": "a", "no_proxy": "b"}, "a,127.0.0.1,localhost,::1"),
    ],
)
def test_the_networks_own_proxy_is_left_out(ours: Mapping[str, str], expected: str) -> None:
    made = codex._environment({"HTTP_PROXY": "http://corp:3128", **ours})
    assert (made["NO_PROXY"], made["no_proxy"], made["HTTP_PROXY"]) == (
        expected,
        expected,
        "http://corp:3128",
    )


async def test_a_proxy_is_known_by_its_name(backend: ScriptedBackend) -> None:
    backend.answers(answer(200, {"data": []}))
    assert await codex.models_at(backend.root) is None
    assert await codex.models_at(NOBODY) is None


# ── what runs ──


@pytest.fixture
async def backend() -> AsyncIterator[ScriptedBackend]:
    async with scripted() as backend:
        backend.answers(answer(200, {"data": [{"id": "qwen"}, {"id": "llama"}]}), reply(text("Hello")))
        yield backend


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """With a stand-in for Codex on the PATH, and no settings from outside."""
    program = tmp_path / "codex"
    stand_in = shlex.join([sys.executable, str(ROOT / "tests" / "support" / "codex_stand_in.py")])
    program.write_text(f'#!/bin/sh\nexec {stand_in} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PROXY_")}
    return kept | {"PATH": f"{tmp_path}{os.pathsep}{kept['PATH']}", "TMPDIR": str(tmp_path)}


async def start(environment: dict[str, str], *options: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "proxy", "codex", *options,
        cwd=ROOT, env=environment, stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def ran(environment: dict[str, str], *options: str) -> tuple[int | None, str, str]:
    process = await start(environment, *options)
    async with asyncio.timeout(PROMPTLY):
        out, err = await process.communicate(b"typed")
    return process.returncode, out.decode(), err.decode()


async def seen(environment: dict[str, str], *options: str) -> Any:
    """What the stand-in reports."""
    code, out, err = await ran(environment, *options)
    assert code == 0, err
    return orjson.loads(out)


def logs(folder: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in folder.glob("responses-proxy-*.log")]


def in_front_of(backend: ScriptedBackend) -> tuple[str, ...]:
    return "--backend", backend.url, "--profile", "default"


async def test_codex_works_with_the_backend_that_is_named(
    environment: dict[str, str], backend: ScriptedBackend, tmp_path: Path
) -> None:
    found = await seen(environment, *in_front_of(backend), "--", "exec", "--json", "do it")
    assert found["words"] == ["exec", "--json", "do it"]
    assert found["input"] == "typed"
    assert found["told"]["model"] == "qwen"
    assert found["models"] == ["qwen", "llama"]
    assert found["said"] == "Hello"
    assert "127.0.0.1" in found["no_proxy"]
    (log,) = logs(tmp_path)
    assert '"client":"codex"' in log


async def test_without_a_backend_the_demo_answers(environment: dict[str, str]) -> None:
    found = await seen(environment, "--port", "0")
    assert found["told"]["model"] == "demo"
    assert found["said"]


async def test_a_model_can_be_named_to_us_or_to_codex(
    environment: dict[str, str], backend: ScriptedBackend
) -> None:
    found = await seen(environment, *in_front_of(backend), "--model", "llama", "--", "exec")
    assert found["told"]["model"] == "llama"
    backend.answers(answer(200, {"data": [{"id": "qwen"}]}), reply(text("Hello")))
    found = await seen(environment, *in_front_of(backend), "--", "exec", "-m", "llama")
    assert "model" not in found["told"]


async def test_a_proxy_that_runs_is_used(environment: dict[str, str], tmp_path: Path) -> None:
    with serving("-m", "proxy", "serve", "--port", "0", "--config", "/dev/null") as url:
        port = url.rpartition(":")[2]
        code, out, err = await ran(environment, "--port", port)
        assert code == 0, err
        provider = orjson.loads(out)["told"]["model_providers"]["responses-proxy"]
        assert provider["base_url"] == f"{url}/v1"
        assert logs(tmp_path) == []
        code, out, _ = await ran(environment, "--port", port, "--print-config")
        assert tomllib.loads(out)["model"] == "demo"


async def test_a_backend_without_models_needs_one_to_be_named(
    environment: dict[str, str], backend: ScriptedBackend
) -> None:
    backend.answers(answer(404))
    code, out, err = await ran(environment, *in_front_of(backend))
    assert (code, out) == (1, "")
    assert err.endswith("The backend lists no models. To name one: --model NAME\n")


async def test_without_codex_it_is_told_how_to_get_it(environment: dict[str, str]) -> None:
    code, out, err = await ran(environment | {"PATH": "/nowhere"})
    assert (code, out) == (1, "")
    assert err == "There is no `codex` on the PATH. To install it: npm install -g @openai/codex\n"


async def test_its_exit_code_is_ours(environment: dict[str, str], backend: ScriptedBackend) -> None:
    code, _, _ = await ran(environment, *in_front_of(backend), "--", "fail")
    assert code == 3


async def test_a_request_to_stop_is_passed_on(environment: dict[str, str], backend: ScriptedBackend) -> None:
    process = await start(environment, *in_front_of(backend), "--", "wait")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    async with asyncio.timeout(PROMPTLY):
        assert await process.stdout.readline()
        process.terminate()
        assert await process.wait() == 128 + signal.SIGTERM


async def test_ctrl_c_is_between_codex_and_the_user(
    environment: dict[str, str], backend: ScriptedBackend
) -> None:
    process = await start(environment, *in_front_of(backend), "--", "wait")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    async with asyncio.timeout(PROMPTLY):
        assert await process.stdout.readline()
        process.send_signal(signal.SIGINT)  # to us alone: Codex, which got none, goes on, and so do we
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 128 + signal.SIGTERM


async def test_a_key_that_the_proxy_wants_is_not_for_a_command_line(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """Neither of a proxy that runs, nor of the one that would be started; the lines to paste have room for it."""
    config = tmp_path / "proxy.toml"
    config.write_text(f'[tenants.a]\nkeys = ["{"ab" * 32}"]\n', encoding="utf-8")
    with serving("-m", "proxy", "serve", "--port", "0", "--config", str(config)) as url:
        running = ("--port", url.rpartition(":")[2])
        for options in (running, ("--backend", NOBODY, "--model", "m", "--config", str(config))):
            code, out, err = await ran(environment, *options)
            assert (code, out) == (1, "")
            assert err.startswith("The proxy has tenants, so Codex needs a key of one")
        for options in (running, ("--port", "8079", "--config", str(config))):
            code, out, _ = await ran(environment, *options, "--print-config")
            provider = tomllib.loads(out)["model_providers"]["responses-proxy"]
            assert (code, provider["experimental_bearer_token"]) == (0, "YOUR-KEY")


# ── lines to paste ──


@pytest.mark.parametrize(
    ("options", "model", "base"),
    [
        ((), "demo", "http://127.0.0.1:8079/v1"),
        (("--backend", NOBODY), "MODEL", "http://127.0.0.1:8079/v1"),
        (("--model", "qwen", "--host", "::1"), "qwen", "http://[::1]:8079/v1"),
    ],
)
async def test_the_lines_are_those_of_the_configured_proxy(
    environment: dict[str, str], options: tuple[str, ...], model: str, base: str
) -> None:
    code, out, err = await ran(environment, "--port", "8079", "--print-config", *options)
    assert (code, err) == (0, "")
    told = tomllib.loads(out)
    assert told["model"] == model
    assert told["model_providers"]["responses-proxy"]["base_url"] == base
