"""Which room may import which: the plan that `test_arrows` compares with the imports.

A room is a folder of `proxy`, named by its path in it, or a module that lies directly in `proxy`. A room stands for its
own modules only: `core` is the words that all share, not the folders beside them. Within itself a room is free, as long
as its imports go in no circle.

To add a room, make the folder and give it a row in `MAY_IMPORT` that names what it needs; then name it in the rows of
the rooms that need it. `app` and `core.flow`, which put things together, may import it at once, and a room of the core
may be imported by the shell, unless it is among the `INNER`. A new dialect or surface needs no row: its folder has one
already. Where a new arrow seems to be needed, see first whether what is imported lies in the right room.
"""

from collections.abc import Mapping

from tests.architecture.tree import EVERY, PACKAGES


def _short(name: str) -> str:
    return name.removeprefix("proxy.")


FOLDERS = {_short(package.name) for package in PACKAGES if package.name != "proxy"}
ROOMS = FOLDERS | {_short(module.name) for module in EVERY if module.name.count(".") < 2}


def room(name: str) -> str:
    """The room of a module."""
    inside = {folder for folder in FOLDERS if f"{_short(name)}.".startswith(f"{folder}.")}
    return max(inside, key=len, default=_short(name))


def _folders_of(parent: str, shared: set[str]) -> set[str]:
    found = {folder for folder in FOLDERS if folder.rpartition(".")[0] == parent}
    return found - {f"{parent}.{folder}" for folder in shared}


CORE = {folder for folder in FOLDERS if folder.split(".")[0] == "core"}

SHARED_BY_DIALECTS = {"reading", "writing"}
DIALECTS = _folders_of("core.dialects", SHARED_BY_DIALECTS)
"""How backends speak: a folder each. What two of them need lies in the folders that they share."""

SHARED_BY_SURFACES = {"reading", "memory", "catalog", "openapi"}
SURFACES = _folders_of("core.surfaces", SHARED_BY_SURFACES)
"""What clients speak: a folder each."""

WORDS = {"core", "core.caches", "core.masking"}
"""What every room may know: the words of the core, what is remembered within bounds, what the log must not repeat."""

TOOLS = {"core.schemas", "core.tools", "core.tools.kinds"}

A_DIALECTS = WORDS | TOOLS | {"core.backends", "core.dialects.reading", "core.dialects.writing"}
"""What every dialect may import: none of the others, and nothing that a client says."""

A_SURFACES = WORDS | TOOLS | {"core.stored", "core.surfaces", "core.surfaces.memory", "core.surfaces.reading"}
"""What every surface may import: none of the others, and nothing that a backend says."""

FAMILIES = {f"core.markup.families.{kind}" for kind in ("notations", "objects", "tags", "tokens")}

INNER = (
    DIALECTS | SURFACES | TOOLS | FAMILIES | {"core.dialects.writing", "core.markup", "core.markup.families"}
)
"""What of the core the shell does not know: languages from within, and what is done to requests and replies there."""

ENGINES = {"shell.stores.memory", "shell.stores.postgres", "shell.stores.redis", "shell.stores.sqlite"}

STORES = {"shell.stores", "shell.stores.sealing"}

BENEATH_THE_ENGINE = {"shell.http", "shell.offload", "shell.ops"}

# ── each room, and what it may import; lower rooms first ──

MAY_IMPORT: Mapping[str, set[str]] = {
    "core": set(),
    "core.caches": set(),
    "core.masking": {"core"},
    "core.schemas": WORDS,
    "core.tracing": WORDS,
    "core.tools.kinds": WORDS | {"core.schemas"},
    "core.tools": WORDS | {"core.schemas", "core.tools.kinds"},
    "core.backends": WORDS,
    "core.policy": WORDS,
    # how backends speak
    "core.dialects.reading": WORDS | {"core.schemas"},
    "core.dialects.writing": WORDS | TOOLS,
    **dict.fromkeys(DIALECTS, A_DIALECTS),
    "core.dialects": WORDS | TOOLS | DIALECTS | {"core.backends", "core.dialects.reading"},
    # what clients speak
    "core.surfaces.memory": WORDS,
    "core.surfaces.reading": WORDS | {"core.schemas", "core.surfaces.memory"},
    "core.surfaces": WORDS | {"core.stored", "core.surfaces.reading"},
    "core.stored": WORDS | {"core.surfaces.reading"},
    **dict.fromkeys(SURFACES, A_SURFACES),
    "core.surfaces.native": A_SURFACES | {"core.surfaces.chat"},
    "core.surfaces.catalog": WORDS | {"core.surfaces"},
    "core.surfaces.openapi": WORDS | SURFACES | {"core.schemas", "core.stored", "core.surfaces.memory"},
    # a reply on its way back
    "core.markup": WORDS | FAMILIES | {"core.tools", "core.markup.families"},
    **dict.fromkeys(FAMILIES, WORDS | {"core.tools", "core.markup"}),
    "core.markup.families": WORDS | FAMILIES | {"core.tools", "core.markup"},
    "core.stream.stages": WORDS | {"core.schemas"},
    "core.stream": WORDS | {"core.markup", "core.stream.stages", "core.tools", "core.tools.kinds"},
    # the recipe: the order of all rooms of the core
    "core.flow": CORE,
    "core.examination": CORE,
    # what a person is shown of a request
    "core.inspected": WORDS | {"core.dialects", "core.stream"},
    # everything that waits
    "shell.ops": WORDS | {"core.inspected", "core.policy", "core.surfaces.openapi"},
    "shell.http": WORDS | {"core.backends", "core.policy", "core.surfaces", "shell.ops"},
    "shell.offload": WORDS | {"core.policy", "core.surfaces.openapi", "core.tools", "shell.ops"},
    # where what the API remembers lies; what all engines share is in the folder itself
    "shell.stores": WORDS | ENGINES | {"core.stored", "shell.stores.sealing"},
    "shell.stores.sealing": {"shell.stores"},
    "shell.stores.memory": WORDS | {"core.stored", "shell.stores"},
    "shell.stores.sql": WORDS | STORES | {"core.stored"},
    "shell.stores.postgres": WORDS | STORES | {"core.stored", "shell.stores.sql"},
    "shell.stores.redis": WORDS | STORES,
    "shell.stores.sqlite": WORDS | STORES | {"core.stored", "shell.stores.sql"},
    "shell.limits": WORDS | {"core.policy", "shell.offload", "shell.ops", "shell.stores"},
    "core.recorded": CORE,
    "shell.recorder": CORE - INNER | {"shell.ops", "shell.watching"},
    "shell.watching": CORE - INNER | {"shell.ops"},
    "shell.tracing": WORDS | {"core.backends", "core.tracing", "shell.http", "shell.ops", "shell.watching"},
    "shell.remembering": WORDS | {"core.backends", "shell.ops", "shell.stores"},
    "shell": CORE - INNER
    | BENEATH_THE_ENGINE
    | {"shell.limits", "shell.remembering", "shell.stores", "shell.watching"},
    "shell.inspector": CORE - INNER | BENEATH_THE_ENGINE | {"shell", "shell.stores", "shell.watching"},
    "shell.runs": WORDS
    | {"core.policy", "core.stored", "core.surfaces", "shell", "shell.ops", "shell.stores"},
    "shell.websocket": CORE - INNER | BENEATH_THE_ENGINE | {"core.surfaces.responses", "shell"},
    "shell.serving": CORE - INNER
    | BENEATH_THE_ENGINE
    | {"core.surfaces.responses", "shell", "shell.inspector", "shell.runs", "shell.stores", "shell.watching"}
    | {"shell.websocket"},
    # the composition root, which knows every concrete class
    "app": ROOMS,
    # the program around it
    "__main__": {"cli"},
    "cli": {"commands", "process", "proxy"},
    "commands": {
        "app",
        "configured",
        "core",
        "core.backends",
        "core.examination",
        "core.masking",
        "core.policy",
        "core.recorded",
        "demo",
        "live_server",
        "process",
        "proxy",
        "settings",
        "shell",
        "shell.http",
        "shell.ops",
        "shell.stores",
        "shell.stores.postgres",
        "shell.stores.sealing",
        "shell.stores.sql",
        "shell.stores.sqlite",
        "storage",
        "supervisor",
        "traces",
        "watchers",
    },
    "configured": CORE - INNER
    | {"core.surfaces.responses", "settings", "shell", "shell.remembering"}
    | BENEATH_THE_ENGINE,
    "demo": set(),
    "inspecting": WORDS
    | {
        "configured",
        "settings",
        "shell",
        "shell.inspector",
        "shell.ops",
        "shell.serving",
        "shell.watching",
        "storage",
    },
    "live_server": {"process", "settings", "shell.ops"} | STORES,
    "process": set(),
    "proxy": set(),
    "settings": WORDS | {"core.backends", "core.dialects", "core.markup", "core.policy"},
    "signing": {"settings"},
    "storage": {
        "live_server",
        "process",
        "settings",
        "shell.ops",
        "shell.stores",
        "shell.stores.sealing",
        "shell.stores.postgres",
        "shell.stores.sqlite",
    },
    "supervisor": {"process", "settings", "shell", "shell.ops", "signing", "worker"},
    "traces": {"process", "proxy", "settings", "shell.http", "shell.ops", "shell.tracing"},
    "watchers": WORDS
    | {
        "process",
        "proxy",
        "settings",
        "shell.inspector",
        "shell.ops",
        "shell.recorder",
        "shell.stores",
        "shell.watching",
        "traces",
    },
    "worker": {"app", "process", "settings", "shell.ops"},
}
