"""Arrows between rooms point downward only. Each rule is one test that lists all who break it."""

from tests.architecture.rooms import (
    DIALECTS,
    FOLDERS,
    MAY_IMPORT,
    ROOMS,
    SHARED_BY_DIALECTS,
    SURFACES,
    room,
)
from tests.architecture.tree import EVERY, MODULES, arrows


def test_arrows_point_downward_only() -> None:
    assert not {
        f"{module.name} → {name}"
        for module, name in arrows()
        if room(name) not in {room(module.name), *MAY_IMPORT.get(room(module.name), ())}
    }


def test_every_room_has_its_row() -> None:
    assert not ROOMS - MAY_IMPORT.keys(), "needs a row in tests/architecture/rooms.py"
    assert not {*MAY_IMPORT, *set().union(*MAY_IMPORT.values())} - ROOMS, "is no room any more"


def test_no_imports_go_in_a_circle() -> None:
    waiting = {module.name: module.own_imports for module in EVERY}
    while free := [name for name, needs in waiting.items() if not needs & waiting.keys()]:
        for name in free:
            del waiting[name]
    assert not waiting


def test_a_dialect_imports_no_other_dialect() -> None:
    """What two of them need lies in `reading` or `writing`, which know none of them."""
    shared = {f"core.dialects.{folder}" for folder in SHARED_BY_DIALECTS}
    assert DIALECTS
    assert shared <= FOLDERS
    assert not {
        f"{module.name} → {name}"
        for module, name in arrows()
        if room(module.name) in DIALECTS | shared and room(name) in DIALECTS - {room(module.name)}
    }


def test_no_surface_knows_another() -> None:
    """Native may know Chat, whose stricter form it is. What several of them read or tell alike lies beside them."""
    assert {
        f"{room(module.name)} → {room(name)}"
        for module, name in arrows()
        if room(module.name) in SURFACES and room(name) in SURFACES - {room(module.name)}
    } == {"core.surfaces.native → core.surfaces.chat"}


def test_what_surfaces_share_knows_none_of_them() -> None:
    assert not {
        f"{module.name} → {name}"
        for module, name in arrows()
        if room(module.name) in {f"core.surfaces{inner}" for inner in ("", ".reading", ".memory")}
        and room(name) in SURFACES
    }


def test_surfaces_and_dialects_meet_in_the_words_alone() -> None:
    """No module of one side knows one of the other; what both need of tools and schemas lies beneath both."""
    sides = ("core.surfaces", "core.dialects")
    assert not {
        f"{module.name} → {name}"
        for module, name in arrows()
        for one, other in (sides, sides[::-1])
        if room(module.name).startswith(one) and room(name).startswith(other)
    }


def test_only_who_starts_the_demo_knows_it() -> None:
    knowing = {
        module.name for module, name in arrows() if room(name) == "demo" and room(module.name) != "demo"
    }
    assert knowing <= {"proxy.commands.backend_or_demo", "proxy.app"}


def test_no_import_is_relative() -> None:
    """A line that is moved or copied means the same wherever it stands."""
    assert not {module.name for module in EVERY if any(name.startswith(".") for name in module.imports)}


def test_every_module_is_reached_from_the_command_line() -> None:
    """What nobody imports is dead."""
    reached: set[str] = set()
    ahead = ["proxy.__main__"]
    while ahead:
        name = ahead.pop()
        if name not in reached:
            reached.add(name)
            ahead += MODULES[name].own_imports
    dead = {module.name for module in EVERY if not module.is_package} - reached
    assert not dead


def test_what_is_private_to_a_module_stays_there() -> None:
    assert not {
        f"{module.name} takes {name}"
        for module in EVERY
        for name in module.imports
        if name.startswith("proxy.")
        and name.rpartition(".")[2].startswith("_")
        and not name.endswith("__version__")
    }


# ── the fence around aiohttp ──

KNOWS_AIOHTTP = {"proxy.shell.serving.server", "proxy.shell.websocket.session"}
"""Besides the room for HTTP, and the demo, which is another program. Half of aiohttp's own parts are used past its
promises: whoever replaces them one day has these to look at, and nothing else."""


def test_aiohttp_is_known_in_one_room_and_two_modules() -> None:
    knowing = {module.name for module in EVERY if any(name.startswith("aiohttp") for name in module.imports)}
    assert {name for name in knowing if room(name) not in {"shell.http", "demo"}} == KNOWS_AIOHTTP
