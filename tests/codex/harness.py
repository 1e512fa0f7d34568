"""Runs the real Codex without a person in front of it, and reads what it left behind."""

import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proxy.core import jsontext

LIMIT_SECONDS = 60
"""Codex needs one or two; a run of many retries less than twenty."""

CONFIG = """\
model = "{model}"
model_provider = "proxy"
web_search = "disabled"
check_for_update_on_startup = false
{settings}

[analytics]
enabled = false

[features]
plugins = false

[model_providers.proxy]
name = "{name}"
base_url = "{base_url}"
wire_api = "responses"
{provider}

{tables}
"""
"""Nothing in it lets Codex ask anybody but the proxy."""


@dataclass(frozen=True)
class Run:
    """What one `codex exec` told by its JSON events."""

    status: int
    events: list[dict[str, Any]]
    complaints: str
    """Its stderr."""

    def items(self, *kinds: str) -> list[dict[str, Any]]:
        """The finished items, or those of some kinds."""
        done = [event["item"] for event in self.events if event["type"] == "item.completed"]
        return [item for item in done if not kinds or item["type"] in kinds]

    @property
    def said(self) -> list[str]:
        return [item["text"] for item in self.items("agent_message")]

    @property
    def warnings(self) -> list[str]:
        return [item["message"] for item in self.items("error")]

    @property
    def retries(self) -> int:
        return sum(event["type"] == "error" and "Reconnecting" in event["message"] for event in self.events)

    @property
    def failure(self) -> str | None:
        """Why the turn failed; None if it was completed."""
        ends = [event for event in self.events if event["type"] in ("turn.completed", "turn.failed")]
        assert len(ends) == 1, self
        error = ends[0].get("error")
        return None if error is None else str(error["message"])

    @property
    def usage(self) -> dict[str, int]:
        usage: dict[str, int] = next(e["usage"] for e in self.events if e["type"] == "turn.completed")
        return usage


class Codex:
    """One user: a home with a configuration, and a folder to work in."""

    def __init__(self, command: Sequence[str | Path], base_url: str, place: Path) -> None:
        self.home = place / "home"
        self.work = place / "work"
        self._temporary = (
            place / "tmp"
        )  # Codex declines to have its home below the folder for temporary files
        for folder in (self.home, self.work, self._temporary):
            folder.mkdir()
        self._command = command
        self._base_url = base_url
        self.configure()

    def configure(
        self,
        *,
        model: str = "qwen3-coder",
        name: str = "Proxy",
        settings: str = "",
        provider: str = "",
        tables: str = "",
    ) -> None:
        """The names of model and provider decide what Codex sends; unknown ones are the rule. The rest is TOML."""
        config = CONFIG.format(
            model=model,
            name=name,
            base_url=self._base_url,
            settings=settings,
            provider=provider,
            tables=tables,
        )
        (self.home / "config.toml").write_text(config, encoding="utf-8")

    def run(self, prompt: str, *arguments: str | Path) -> Run:
        """`codex exec` with these arguments in front of the prompt, until it ends by itself."""
        options = ("--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
        process = subprocess.Popen(
            [*self._command, "exec", *arguments, *options, prompt],
            cwd=self.work,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "CODEX_HOME": str(self.home),
                "TMPDIR": str(self._temporary),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            told, complaints = process.communicate(timeout=LIMIT_SECONDS)
        except BaseException:
            os.killpg(
                process.pid, signal.SIGKILL
            )  # the command is a script of Node around the program itself
            process.communicate()
            raise
        events = [jsontext.loads(line) for line in told.splitlines()]
        return Run(process.returncode, events, complaints.decode())

    def file(self, name: str) -> str:
        """What stands in a file of the folder that Codex works in."""
        return (self.work / name).read_text(encoding="utf-8")
