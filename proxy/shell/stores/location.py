"""Which engine keeps what the API remembers, and where: from `store.url` and from what the system allows.

The default keeps it in files, where it can. Network file systems, and those that a virtual machine shares with its
host, damage such files within minutes: a directory there that was asked for is refused, and none is taken by itself.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from proxy.shell.stores.postgres.address import Address

NAME: Final = "responses-proxy"
MOUNTS: Final = Path("/proc/self/mounts")

SHARED: Final = frozenset(
    {
        "nfs",
        "nfs4",
        "smb3",
        "smbfs",
        "cifs",
        "9p",
        "virtiofs",
        "fuse",
        "ceph",
        "lustre",
        "afs",
        "vboxsf",
        "prl_fs",
    }
)
"""File systems that several machines may write, besides all of FUSE."""

NOTHING_KEPT: Final = "nothing is kept: answers say `store: false`, and nothing can be continued by its id"
KEPT: Final = "responses are kept in {where}, unless a request says `store: false`"
IN_MEMORY: Final = "the memory of this process"


class LocationRefused(ValueError):
    """What `store.url` asks for cannot be. Its words say why, and what to do."""


class StoreKind(Enum):
    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"
    MEMORY = "memory"
    OFF = "off"


@dataclass(slots=True, frozen=True)
class Location:
    kind: StoreKind
    directory: Path | None
    line: str
    """For whoever starts the proxy."""
    is_less: bool = False
    """It is not what the default would be: a warning."""
    address: Address | None = None
    """Of the database."""


def locate(url: str, workers: int, environ: Mapping[str, str], mounts: str) -> Location:
    """`mounts`: the text of the system's table of mounts, empty where there is none."""
    scheme, _, path = url.partition(":")
    match scheme:
        case "auto" if url == "auto":
            return _automatic(workers, environ, mounts)
        case "off" if url == "off":
            return Location(StoreKind.OFF, None, NOTHING_KEPT)
        case "memory" if url == "memory:":
            return _in_memory(workers)
        case "postgresql" | "postgres" if path.startswith("//"):
            return _in_database(Address(url))
        case "sqlite" if path:
            return _asked_for(Path(path).expanduser().absolute(), mounts)
        case _:
            raise LocationRefused(
                "store.url must be auto, sqlite:DIRECTORY, postgresql://USER:PASSWORD@HOST/DATABASE, memory: or off"
            )


def _in_memory(workers: int) -> Location:
    if workers > 1:
        raise LocationRefused(
            f'store.url is "memory:" and there are {workers} workers: a response would be found one time in {workers}.'
            ' Use server.workers = 1, store.url = "sqlite:DIRECTORY", or store.url = "off"'
        )
    return Location(StoreKind.MEMORY, None, KEPT.format(where=IN_MEMORY))


def _in_database(address: Address) -> Location:
    if find_spec("asyncpg") is None:
        raise LocationRefused(
            "store.url names a database of PostgreSQL, and the package that speaks to it is not installed:"
            " pip install '.[postgres]' in a checkout of the proxy"
        )
    return Location(StoreKind.POSTGRESQL, None, KEPT.format(where=address.shown), address=address)


def check_live_server() -> None:
    """Raises LocationRefused if nothing here can speak to the server that `live.url` names."""
    if find_spec("redis") is None:
        raise LocationRefused(
            "live.url names a server of Redis, and the package that speaks to it is not installed:"
            " pip install '.[redis]' in a checkout of the proxy"
        )


def _asked_for(directory: Path, mounts: str) -> Location:
    if kind := shared_kind(directory, mounts):
        raise LocationRefused(
            f"store.url names {directory}, which is on a file system of the kind {kind}. Files of SQLite are damaged"
            ' there: name a directory on a local disk, or use store.url = "memory:" or "off"'
        )
    if problem := unwritable(directory):
        raise LocationRefused(f"store.url: {directory} {problem}")
    return _in_files(directory)


def _in_files(directory: Path) -> Location:
    return Location(StoreKind.SQLITE, directory, KEPT.format(where=directory))


def _automatic(workers: int, environ: Mapping[str, str], mounts: str) -> Location:
    reasons = []
    for directory in _usual(environ):
        shared = shared_kind(directory, mounts)
        problem = f"is on a file system of the kind {shared}" if shared else unwritable(directory)
        if not problem:
            return _in_files(directory)
        reasons.append(f"{directory} {problem}")
    reason = "; ".join(reasons) or "no directory is known"
    hint = "set store.url to a directory on a local disk"
    if workers > 1:
        return Location(StoreKind.OFF, None, f"{NOTHING_KEPT} ({reason}; {hint})", is_less=True)
    return replace(_in_memory(1), line=f"{KEPT.format(where=IN_MEMORY)} ({reason}; {hint})", is_less=True)


def _usual(environ: Mapping[str, str]) -> list[Path]:
    found = []
    if state := environ.get("STATE_DIRECTORY", "").split(":")[0]:
        found.append(Path(state))
    if states := environ.get("XDG_STATE_HOME"):
        found.append(Path(states, NAME))
    if home := environ.get("HOME"):
        found.append(Path(home, ".local", "state", NAME))
    return [path for path in found if path.is_absolute()]


def unwritable(directory: Path) -> str:
    """Why it cannot be written, as what follows its name. It is not made here: commands that only look ask, too."""
    nearest = directory
    while not os.path.lexists(nearest):
        nearest = nearest.parent
    if not nearest.is_dir():
        return f"cannot be made, as {nearest} is no directory" if nearest != directory else "is no directory"
    if os.access(nearest, os.R_OK | os.W_OK | os.X_OK):
        return ""
    if nearest != directory:
        return f"cannot be made, as this user has no right to write in {nearest}"
    return "cannot be used, as this user has no right to read and write in it"


# ── the table of mounts ──

ESCAPES: Final = (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\"))
"""What stands for characters that the table itself needs."""


def shared_kind(directory: Path, mounts: str) -> str:
    """The kind of its file system, if several machines may write that; else nothing."""
    resolved = directory.resolve()
    nearest, kind = -1, ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        mounted = Path(_unescaped(fields[1]))
        depth = len(mounted.parts)
        if depth >= nearest and (resolved == mounted or mounted in resolved.parents):
            nearest, kind = depth, fields[2]
    return kind if kind in SHARED or kind.startswith("fuse.") else ""


def _unescaped(name: str) -> str:
    for escape, character in ESCAPES:
        name = name.replace(escape, character)
    return name


def read_mounts() -> str:
    return MOUNTS.read_text(errors="replace") if MOUNTS.exists() else ""
