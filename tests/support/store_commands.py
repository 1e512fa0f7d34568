"""`responses-proxy store …` as people call it: here, or in a process of its own; and how a proxy is asked."""

import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from proxy.cli import main
from proxy.core import jsontext
from tests.support.processes import ROOT

PROMPTLY = 30.0
KEYS = "".join(
    f'[tenants.{name}]\nkeys = ["{sha256(name.encode()).hexdigest()}"]\n' for name in ("ann", "bob")
)
SERVE = ("-m", "proxy", "serve", "--port", "0")


def run(*arguments: str | Path) -> tuple[int, str, str]:
    """Here, which is a process beside that of the proxy; without a terminal."""
    with redirect_stdout(StringIO()) as shown, redirect_stderr(StringIO()) as complaint:
        code = main([*map(str, arguments)])
    return code, shown.getvalue(), complaint.getvalue()


def run_alone(*arguments: str) -> tuple[int, str, str]:
    """In a process of its own, which would go on if it were not refused."""
    command = [sys.executable, "-m", "proxy", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=PROMPTLY)
    return ended.returncode, ended.stdout, ended.stderr


def answer(url: str, path: str = "responses", key: str = "", **body: Any) -> dict[str, Any]:
    data = jsontext.dumps({"model": "demo", "input": "Hello"} | body if path == "responses" else body)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    with urlopen(Request(f"{url}/v1/{path}", data, headers), timeout=PROMPTLY) as response:
        told: dict[str, Any] = jsontext.loads(response.read())
        return told


def told(name: str, lines: str) -> str:
    found = re.search(rf"^ *{name}  +(.*)$", lines, re.MULTILINE)
    assert found is not None, lines
    return found[1]
