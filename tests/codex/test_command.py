"""`responses-proxy codex` runs the real Codex, in whatever configuration it finds."""

import os
import sys
from pathlib import Path

import pytest

from proxy import demo
from tests.codex.backend import Model, shell
from tests.codex.harness import Codex
from tests.node import packages
from tests.support.processes import ROOT
from tests.support.sockets import reply, text

START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from proxy.cli import main; sys.exit(main())"
"""As `scripts/codex` starts it, from whatever folder it is in."""


@pytest.fixture
def codex(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Codex:
    """Its own configuration names a provider where nobody is."""
    node = packages.required()
    monkeypatch.setenv(
        "PATH", os.pathsep.join(map(str, [packages.COMMANDS, node.parent, os.environ["PATH"]]))
    )
    options = ("--backend", model.url, "--profile", demo.PROFILE, "--")
    return Codex([sys.executable, "-c", START, ROOT, "codex", *options], "http://127.0.0.1:9/v1", tmp_path)


def test_codex_runs_with_the_first_model_that_the_backend_lists(codex: Codex, model: Model) -> None:
    codex.configure(model="another")
    model.plays(shell("echo one > one.txt"), reply(text("Done.")))
    run = codex.run("Make a file")
    assert (run.status, run.said, run.warnings) == (0, ["Done."], [])
    assert codex.file("one.txt") == "one\n"
    assert [request["model"] for request in model.requests] == ["qwen3-coder", "qwen3-coder"]
    assert "apply_patch" in model.tools()
    assert "The model is qwen3-coder, the first of 1." in run.complaints


def test_the_users_configuration_stays_as_it_is_and_holds_otherwise(codex: Codex, model: Model) -> None:
    codex.configure(settings='developer_instructions = "Always speak in rhymes."')
    before = (codex.home / "config.toml").read_bytes()
    model.plays(reply(text("Done.")))
    codex.run("Hello")
    assert "Always speak in rhymes." in str(model.requests[0]["messages"])
    assert (codex.home / "config.toml").read_bytes() == before


def test_codex_may_be_told_another_model(codex: Codex, model: Model) -> None:
    model.plays(reply(text("Done.")))
    assert codex.run("Hello", "-m", "gpt-oss").said == ["Done."]
    assert model.requests[0]["model"] == "gpt-oss"
