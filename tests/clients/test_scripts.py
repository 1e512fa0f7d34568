"""R13: the scripts that people run against a running proxy."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.core.tenants import digest
from tests.support.processes import ROOT, serving

NOBODY = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def first_start() -> Iterator[str]:
    """What a newcomer has after `scripts/run`: the proxy with a demo model of its own."""
    with serving("-m", "proxy", "serve", "--port", "0") as url:
        yield url


def run(*command: str, base_url: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "BASE_URL": base_url, "MODEL": "demo"}
    return subprocess.run(
        command,
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_the_curl_suite_passes(first_start: str) -> None:
    done = run("bash", str(ROOT / "scripts/test_tool_calling.sh"), base_url=first_start)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAIL" not in done.stdout
    assert "LEFT OUT" not in done.stdout
    assert done.stdout.splitlines()[-1].endswith(" 0 failed")


@pytest.mark.parametrize(
    "command",
    [
        (sys.executable, "manual_tests/tool_calling_simple.py"),
        (sys.executable, "manual_tests/stored_responses.py"),
        ("bash", "manual_tests/tool_calling_example.sh"),
        ("bash", "scripts/test_tool_calling.sh"),
    ],
)
def test_a_tenant_shows_its_key(
    command: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "proxy.toml"
    config.write_text(f'[tenants.a]\nkeys = ["{digest("sk-tenant")}"]\n', encoding="utf-8")
    program, script = command
    with serving("-m", "proxy", "serve", "--port", "0", "--config", str(config)) as url:
        refused = run(program, str(ROOT / script), base_url=url)
        assert refused.returncode == 1
        monkeypatch.setenv("KEY", "sk-tenant")
        done = run(program, str(ROOT / script), base_url=url)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_curl_suite_can_fail() -> None:
    done = run("bash", str(ROOT / "scripts/test_tool_calling.sh"), base_url=NOBODY)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.endswith(f"Nothing answers at {NOBODY}. Start the proxy with scripts/run.\n")


def test_the_python_example_shows_the_call_arriving(first_start: str) -> None:
    done = run(sys.executable, str(ROOT / "manual_tests/tool_calling_simple.py"), base_url=first_start)
    assert done.returncode == 0, done.stderr
    assert "response.output_tool_call.delta" in done.stdout
    assert "The model calls get_weather with {'city': 'Paris'}" in done.stdout


def test_the_shell_example_has_two_turns(first_start: str) -> None:
    done = run("bash", str(ROOT / "manual_tests/tool_calling_example.sh"), base_url=first_start)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("calls get_weather") == 2
    assert '"temperature": 18' in done.stdout


def test_the_lines_of_the_readme_about_what_is_kept_work_as_pasted(first_start: str) -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## What is kept\n")[2]
    lines = "".join(re.findall(r"^```sh\n(.*?)^```", section.partition("\n## ")[0], re.DOTALL | re.MULTILINE))
    assert "http://127.0.0.1:8080" in lines
    done = run("sh", "-c", lines.replace("http://127.0.0.1:8080", first_start), base_url=first_start)
    assert done.returncode == 0, done.stderr
    assert "You said “And again”, and before that “Hello”." in done.stdout
    assert '"text":"This is the demo model, a script. You said “Hello”. ' in done.stdout
    assert '"deleted":true}event: response.queued\n' in done.stdout
    assert "event: response.created\n" not in done.stdout, "it was seen before"
    assert "You said “Good evening”." in done.stdout
    assert done.stdout.count("event: response.completed\n") == 1


def test_the_example_of_what_is_stored_ends_with_a_refusal_and_a_history(first_start: str) -> None:
    done = run(sys.executable, str(ROOT / "manual_tests/stored_responses.py"), base_url=first_start)
    assert done.returncode == 0, done.stderr
    assert "You said “What is my name?”, and before that “My name is Ann.”." in done.stdout
    assert "the first one is the same: True\nDeleted: True\n" in done.stdout
    assert re.search(r"HTTP 400, Previous response with id 'resp_\w+' not found\.", done.stdout)
    assert "left after event 0, response.created\n" in done.stdout
    assert re.search(r"from response\.queued to response\.completed\nPolled, it is completed\n$", done.stdout)


def test_where_nothing_is_kept_the_curl_suite_and_the_example_say_so() -> None:
    with serving("-m", "proxy", "serve", "--port", "0", "--store", "off") as url:
        suite = run("bash", str(ROOT / "scripts/test_tool_calling.sh"), base_url=url)
        done = run(sys.executable, str(ROOT / "manual_tests/stored_responses.py"), base_url=url)
    assert suite.returncode == 0, suite.stdout + suite.stderr
    assert re.search(r"^LEFT OUT  .*store\.url", suite.stdout, re.MULTILINE)
    assert done.returncode == 1
    assert "store.url" in done.stderr


def test_without_a_proxy_the_examples_say_so() -> None:
    simple = sys.executable, str(ROOT / "manual_tests/tool_calling_simple.py")
    stored = sys.executable, str(ROOT / "manual_tests/stored_responses.py")
    for command in (simple, stored, ("bash", str(ROOT / "manual_tests/tool_calling_example.sh"))):
        done = run(*command, base_url=NOBODY)
        assert done.returncode == 1
        assert "scripts/run" in done.stderr
