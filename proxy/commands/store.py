"""`responses-proxy store …`: what is kept is shown, swept, copied, deleted for a tenant, while proxies run or not."""

import argparse
import asyncio
import os
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

from proxy.commands.command import DONE, MISUSED, Command, add_settings, read_settings, run
from proxy.commands.progress import telling
from proxy.commands.store_encryption import by_keys, encrypt
from proxy.commands.store_files import CLOCK
from proxy.commands.store_finding import FoundStore, found
from proxy.live_server import forget_there
from proxy.settings.root import Settings
from proxy.settings.store import StoreSettings
from proxy.shell.stores.protocol import StoreDown
from proxy.shell.stores.sql.census_steps import Census, Inspected
from proxy.shell.stores.sweeper import Sweeper
from proxy.storage import CannotStore, sealed_by

Action: TypeAlias = Callable[[Settings, argparse.Namespace], Coroutine[Any, Any, int]]

UNITS: Final = ("bytes", "KiB", "MiB", "GiB", "TiB")
STEP: Final = 1024
MOST_NAMES: Final = 10
STILL_THERE: Final = (
    "The records of the tenant {name!r} are deleted. What may be lost is not, as the server of live.url does not answer"
    " ({failure}): it goes by itself within a day, or run this command again"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    for name, (action, purpose) in ACTIONS.items():
        subparser = actions.add_parser(name, help=purpose, description=purpose, allow_abbrev=False)
        subparser.set_defaults(action=action, parser=subparser)
        add_settings(subparser)
    actions.choices["backup"].add_argument(
        "file", metavar="FILE", type=Path, help="It must not be there yet."
    )
    forgetting = actions.choices["forget-tenant"]
    forgetting.add_argument("tenant", metavar="NAME", help="As in the configuration, or as it was there.")
    forgetting.add_argument("--yes", action="store_true", help="Do not ask for a confirmation.")


# ── info ──


async def info(settings: Settings, _: argparse.Namespace) -> int:
    store = found(settings)
    for name, value in _facts(store, settings.store, await store.inspect()):
        print(f"{name:15}{value}")
    print("".join(f"{note}\n" for note in store.notes()), end="")
    return DONE


def _facts(store: FoundStore, wanted: StoreSettings, there: Inspected) -> list[tuple[str, str]]:
    census = there.census
    conversations = "until they are deleted"
    if wanted.conversation_days is not None:
        conversations = f"{wanted.conversation_days:g} days after their last use"
    return [
        store.where,
        ("engine", f"{there.engine}, tables of version {there.version}"),
        ("used by", _counted(census.workers, "running process", "es")),
        ("tenants", _few(census.tenants)),
        ("responses", str(census.responses)),
        *((f"  {status}", str(number)) for status, number in sorted(census.statuses.items())),
        ("oldest", "-" if census.oldest is None else _date(census.oldest)),
        ("conversations", str(census.conversations)),
        *by_keys(sealed_by(wanted).ids, census.sealed_by),
        ("size", f"{_bytes(there.bytes)} of {wanted.max_gib:g} GiB at most"),
        ("on disk", _bytes(store.on_disk(there))),
        ("kept for", f"{wanted.retention_days:g} days; conversations {conversations}"),
    ]


def _few(names: Sequence[str]) -> str:
    more = [f"and {len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return ", ".join([*names[:MOST_NAMES], *more]) or "-"


def _counted(number: int, word: str, plural: str = "s") -> str:
    return f"{number} {word}" + plural * (number != 1)


def _date(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def _bytes(number: float) -> str:
    unit = 0
    while number >= STEP and unit < len(UNITS) - 1:
        number /= STEP
        unit += 1
    return f"{number:.1f} {UNITS[unit]}" if unit else f"{number:g} {UNITS[unit]}"


# ── migrate ──


async def migrate(settings: Settings, _: argparse.Namespace) -> int:
    store = found(settings)
    async with telling(lambda: "Making the tables"):
        await store.migrate()
    there = await store.inspect()
    print(f"{store.where[1]}: {there.engine}, tables of version {there.version}.")
    return DONE


# ── sweep ──


class _Counts:
    """Hears what the sweeper does."""

    def __init__(self) -> None:
        self.of: Counter[str] = Counter()

    async def settled(self, keys: Sequence[object]) -> None:
        """Proxies settle what their dead have begun; a command does not."""

    def swept(self, kind: str, count: int) -> None:
        self.of[kind] += count

    def failed(self, failure: Exception) -> None:
        raise failure

    def so_far(self) -> str:
        return f"Deleting what is not to be kept any more: {self.of.total()} so far"


async def sweep(settings: Settings, _: argparse.Namespace) -> int:
    store = found(settings)
    before = await store.inspect()
    counts = _Counts()
    async with telling(counts.so_far), store.opened() as (records, live):
        await Sweeper(records, live, counts, CLOCK.steady, asyncio.sleep).once()
    after = await store.inspect()
    expired, early, logs = counts.of["expired"], counts.of["early"], counts.of["live"]
    print(f"Deleted: {expired} that had expired, {early} because of store.max_gib, {logs} logs.")
    print(f"Size: {_bytes(after.bytes)}, before {_bytes(before.bytes)}.")
    return DONE


# ── backup ──


async def backup(settings: Settings, wanted: argparse.Namespace) -> int:
    """The copy is whole or not there: it gets its name when it is complete."""
    store = found(settings)
    there = await store.inspect()
    with _complete(wanted.file) as copy:

        def so_far() -> str:
            done = copy.stat().st_size if copy.exists() else 0
            return f"Copying: {_bytes(done)} of some {_bytes(there.bytes)}"

        async with telling(so_far):
            await store.backup(copy)
    print(f"{wanted.file}: {_what(there.census)}, {_bytes(wanted.file.stat().st_size)}.")
    return DONE


@contextmanager
def _complete(target: Path) -> Iterator[Path]:
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise CannotStore(f"{target} is there already, and is not overwritten: choose another name") from None
    except OSError as failure:
        raise CannotStore(f"{target} cannot be written: {failure.strerror}") from failure
    try:
        with TemporaryDirectory(prefix=f"{target.name}.", dir=target.parent) as folder:
            yield (copy := Path(folder, target.name))
            os.replace(copy, target)
    except BaseException:
        target.unlink()
        raise


# ── forget-tenant ──


async def forget_tenant(settings: Settings, wanted: argparse.Namespace) -> int:
    name: str = wanted.tenant
    store = found(settings)
    census = (await store.inspect(name)).census
    what = f"{_what(census)} of the tenant {name!r}"
    if (
        census.tenants
        and not wanted.yes
        and not _confirmed(f"{what} will be deleted for good. Type the name to go on: ", name)
    ):
        print("Nothing was deleted. To go on without being asked: --yes", file=sys.stderr)
        return MISUSED
    async with telling(lambda: f"Deleting {what}"), store.opened() as (records, live):
        number = await records.forget(name)
        await live.forget(name)
    try:
        await forget_there(settings.live, name)
    except StoreDown as failure:
        raise CannotStore(STILL_THERE.format(name=name, failure=failure)) from failure
    print(f"Deleted: {what}." if number else _nothing_of(name, (await store.inspect()).census.tenants))
    return DONE


def _nothing_of(name: str, others: Sequence[str]) -> str:
    return f"Nothing was kept of the tenant {name!r}. Something is kept of: {_few(others)}"


def _what(census: Census) -> str:
    return f"{_counted(census.responses, 'response')} and {_counted(census.conversations, 'conversation')}"


def _confirmed(question: str, name: str) -> bool:
    """Nobody can answer where there is no terminal."""
    if not sys.stdin.isatty():
        return False
    try:
        return input(question) == name
    except EOFError:
        return False


ACTIONS: Final[dict[str, tuple[Action, str]]] = {
    "info": (info, "Show where things are kept, how many, and how large they are."),
    "migrate": (
        migrate,
        "Make the tables as this version needs them. A proxy that may do so does it when it starts.",
    ),
    "sweep": (sweep, "Delete now what has expired or is too much. A running proxy does so by itself."),
    "backup": (backup, "Copy what is kept to a file, as of now, while proxies go on."),
    "encrypt": (
        encrypt,
        "Encrypt with the first of store.keys what it has not encrypted, while proxies go on.",
    ),
    "forget-tenant": (forget_tenant, "Delete all that is kept of a tenant."),
}


def store(wanted: argparse.Namespace) -> int:
    action: Action = wanted.action
    return run(action(read_settings(wanted).settings, wanted))


COMMAND = Command(
    "Show, sweep, copy or delete what is kept of responses and conversations.", store, add_options
)
