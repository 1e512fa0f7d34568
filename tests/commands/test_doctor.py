"""`doctor` as a process of its own, against servers on real sockets."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from proxy.core import jsontext
from proxy.core.backends.profiles import PROFILES
from proxy.core.profile import overridden
from proxy.settings.loading import load
from tests.support.differences import CASES
from tests.support.doctoring import doctor
from tests.support.planted import Planted, refuses, serving

KEY = "sk-plainly-secret-0123456789"


async def test_the_demo_is_as_assumed() -> None:
    ended = await doctor()
    assert ended.code == 0
    assert "at most 95 requests and 60000 tokens." in ended.err
    lines = ended.out.splitlines()
    assert lines[1].split() == ["ok", "text", "works,", "begun", "after", "0.0", "s", "works"]
    assert lines[-2].startswith("backend: 33 as assumed; 1 unknown. 56 requests, about ")
    assert "\x1b" not in ended.out + ended.err  # nobody looks


@pytest.mark.parametrize("several", [False, True])
async def test_what_is_written_is_read_back(tmp_path: Path, *, several: bool) -> None:
    """Findings of several backends go into several tables, beside what was set before."""
    planted = Planted([CASES["no developer"].difference, CASES["few tools"].difference])
    table = "backends.main" if several else "backend"
    async with serving(planted) as served, serving(Planted()) as well:
        text = f'[{table}]\nurl = "{served.url}"\nprofile = "openai"\nkey = "{KEY}"\n'
        if several:
            text += f'[backends.other]\nurl = "{well.url}"\nprofile = "openai"\n[routing]\ndefault = "main"\n'
        path = tmp_path / "proxy.toml"
        path.write_text(f"{text}[{table}.overrides]\nfirst_byte_s = 9\n", encoding="utf-8")
        before = await doctor("--config", str(path), "--write")
        assert before.code == 1
        assert before.out.startswith(f"[{table}.overrides]\n")
        assert "WORSE  number of tools" in before.err
        path.write_text(text + before.out, encoding="utf-8")
        settings = load({}, {}, str(path)).settings
        backend = settings.all_backends["main" if several else "backend"]
        profile = overridden(PROFILES["openai"], backend.overrides)
        assert (profile.system_role, profile.max_tools, profile.first_byte_s) == ("system", 32, 9)
        after = await doctor("--config", str(path))
        assert after.code == 0
        named = await doctor("--config", str(path), *(["main"] if several else []), "--json")
        assert [each["backend"] for each in jsontext.loads(named.out)] == ["main" if several else "backend"]
    assert f"Bearer {KEY}" in served.keys
    assert KEY not in "".join((*before, *after[1:], *named[1:])[1:])  # type: ignore[arg-type]


async def test_findings_for_machines() -> None:
    async with serving(Planted([CASES["no sound"].difference])) as served:
        ended = await doctor("--backend", served.url, "--profile", "openai", "--json", "--model", "gpt")
    assert ended.code == 1
    [found] = jsontext.loads(ended.out)
    rows: list[dict[str, Any]] = found.pop("rows")
    assert [row["aspect"] for row in rows if row["standing"] == "worse"] == ["sound"]
    assert found.pop("tokens") > 1000
    assert found == {
        "backend": "backend",
        "profile": "openai",
        "model": "gpt",
        "requests": 56,
        "worse": True,
        "overrides": {"audio": False},
    }
    assert tomllib.loads("audio = false") == found["overrides"]


async def test_a_key_that_a_backend_repeats_is_not_shown() -> None:
    leaking = refuses(lambda body: "developer" in str(body["messages"]), f"No, {KEY}, never.")
    async with serving(Planted([leaking])) as served:
        ended = await doctor("--backend", served.url, "--profile", "openai", PROXY_BACKEND_KEY=KEY)
    assert "[redacted]" in ended.out
    assert KEY not in ended.out + ended.err


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["nobody"], 1, "There is no backend 'nobody'. There are: backend"),
        (
            ["--backend", "http://127.0.0.1:9"],
            1,
            "backend: there is no list of models at http://127.0.0.1:9/v1/models: The backend cannot be connected to. "
            "To name one: --model NAME",
        ),
        (["--tokens", "0"], 2, "must be a whole number from 1 on, not '0'"),
        (["--write", "--json"], 2, "not allowed with argument"),
    ],
)
async def test_what_cannot_be_done(options: list[str], code: int, words: str) -> None:
    ended = await doctor(*options)
    assert (ended.code, ended.out) == (code, "")
    assert words in ended.err


async def test_a_backend_that_is_not_there() -> None:
    ended = await doctor("--backend", "http://127.0.0.1:9", "--model", "m")
    assert ended.code == 1
    assert "WORSE  text                              The backend cannot be connected to." in ended.out
    assert "1 worse (text). 1 request, about" in ended.out


async def test_a_backend_that_refuses_to_list_its_models_is_heard() -> None:
    async def refuse(_: web.Request) -> web.Response:
        return web.json_response({"error": {"message": "Invalid key."}}, status=401)

    app = web.Application()
    app.router.add_get("/{path:.*}", refuse)
    async with TestServer(app) as server:
        url = str(server.make_url("/v1"))
        ended = await doctor("--backend", url)
    assert ended.code == 1
    assert f"{url}/models answers with HTTP 401, and lists no models. To name one" in ended.err


async def test_tokens_are_limited() -> None:
    async with serving(Planted()) as served:
        ended = await doctor("--backend", served.url, "--profile", "openai", "--tokens", "3000", "--json")
    [found] = jsontext.loads(ended.out)
    assert found["tokens"] <= 3000
    assert "at most 104 requests and 3000 tokens" in ended.err
