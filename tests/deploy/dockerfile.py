"""The Dockerfile, as far as a machine without a container engine can follow it.

Each stage gets a folder that stands for `/`, and its steps are done there: files are copied, commands run with their
absolute paths in that folder. What only root may do is not done, but noted.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

import orjson

from tests.support.processes import ROOT

ABSOLUTE = re.compile(r"(?<![^\s=:])/(?=\w)")
"""Where a word begins, or a part of a list of folders."""
FOR_ROOT = {"useradd": "", "install": 'exec /usr/bin/install $(echo "$@" | sed "s/ -o [a-z]*//")\n'}
"""Commands that want root, with what is done in their place."""


@dataclass
class Stage:
    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    """The steps that do nothing, by their names: USER, CMD and so on."""
    noted: list[str] = field(default_factory=list)
    """What root was to do."""

    def here(self, text: str) -> str:
        """Absolute paths, where they are on this machine."""
        return ABSOLUTE.sub(f"{self.root}/", text)

    @property
    def variables(self) -> dict[str, str]:
        return {
            name: self.here(value).replace("$PATH", "/usr/local/bin:/usr/bin:/bin")
            for name, value in self.environment.items()
        }

    def command(self, name: str) -> list[str]:
        """A step in the form of a list, which no shell reads."""
        words: list[str] = orjson.loads(self.settings[name])
        return words


def built(dockerfile: Path, folder: Path) -> Stage:
    """The last stage, with its steps done."""
    stages: dict[str, Stage] = {}
    stage = None
    for step, rest in steps(dockerfile.read_text(encoding="utf-8")):
        if step == "FROM":
            image, _, name = rest.partition(" AS ")
            stage = stages[name] = Stage(folder / (name or "last"))
            stage.root.mkdir(parents=True)
            stage.settings["FROM"] = image
            continue
        assert stage is not None, "the first step is FROM"
        if step == "RUN":
            _run(stage, rest)
        elif step == "COPY":
            _copy(stage, rest, stages)
        elif step == "ENV":
            for pair in shlex.split(rest):
                name, _, value = pair.partition("=")
                stage.environment[name] = value
        else:
            stage.settings[step] = rest
    assert stage is not None
    return stage


def steps(text: str) -> list[tuple[str, str]]:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ")
    found = [line.partition(" ") for line in whole.splitlines()]
    return [(step, " ".join(rest.split()) if step != "HEALTHCHECK" else rest) for step, _, rest in found]


def _run(stage: Stage, command: str) -> None:
    stands = stage.root.parent / "for_root"
    stands.mkdir(exist_ok=True)
    notes = stands / "notes"
    for name, script in FOR_ROOT.items():
        path = stands / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>{notes}\n{script}', encoding="utf-8")
        path.chmod(0o755)
    python = stands / "python"
    if not python.exists():
        python.symlink_to(Path(sys.base_prefix, "bin", "python3"))
    subprocess.run(
        ["sh", "-ec", stage.here(command)],
        check=True,
        env={"PATH": f"{stands}:/usr/bin:/bin", "HOME": str(stands)},
        cwd=stage.root,
        stdout=subprocess.DEVNULL,
    )
    stage.noted = notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []


def _copy(stage: Stage, rest: str, stages: dict[str, Stage]) -> None:
    words = rest.split()
    source = ROOT
    if words[0].startswith("--from="):
        source = stages[words.pop(0).removeprefix("--from=")].root
    what, target = words
    assert source != ROOT or not ignored(what), f"{what} is left out by .dockerignore"
    found = source / what.lstrip("/")
    goal = stage.root / target.lstrip("/")
    if found.is_dir():
        copied(found, goal, "" if source != ROOT else "__pycache__")
    else:
        goal = goal / found.name if target.endswith("/") else goal
        goal.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(found, goal)


def copied(source: Path, target: Path, but: str = "") -> None:
    """By links, because nobody writes into what is there."""
    copy: Callable[[str, str], object] = shutil.copy if source.is_relative_to(ROOT) else os.link
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(but), copy_function=copy)


def ignored(path: str) -> bool:
    """By the rules of `.dockerignore`, of which the last one that fits counts."""
    verdict = False
    for rule in (ROOT / ".dockerignore").read_text(encoding="utf-8").split():
        name = rule.removeprefix("!")
        if fnmatch(path, name) or path.startswith(f"{name}/"):
            verdict = not rule.startswith("!")
    return verdict
