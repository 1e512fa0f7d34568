"""The architecture, read from the imports: arrows point downward only, the core neither waits nor looks at a clock.

Each rule is one test that lists all who break it. Longer than most because it lists what each room may import.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parent.parent
MAX_LINES = 350
MAX_TEST_LINES = 500
EXCUSE = "Longer than most because"
"""How the docstring of a long file begins to explain itself."""


@dataclass(frozen=True)
class Module:
    path: Path

    @cached_property
    def name(self) -> str:
        parts = self.path.relative_to(ROOT).with_suffix("").parts
        return ".".join(parts).removesuffix(".__init__")

    @cached_property
    def lines(self) -> int:
        return len(self.path.read_bytes().splitlines())

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_bytes())

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @property
    def docstring(self) -> str:
        return " ".join((ast.get_docstring(self.tree) or "").split())

    @property
    def has_code(self) -> bool:
        """Does it define anything that can be wrong? Names and constants alone cannot."""
        return any(
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in self.tree.body
        )

    @cached_property
    def imports(self) -> list[str]:
        """What is imported, anywhere in the file, in full; `from a import b` may name the module `a.b`."""
        found: list[str] = []
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found += (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                found += (f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names)
        return found

    @cached_property
    def own_imports(self) -> set[str]:
        """The modules of the project among them."""
        found = set()
        for name in self.imports:
            while name and name not in MODULES:
                name = name.rpartition(".")[0]
            found |= {name} - {"", self.name}
        return found

    @property
    def mirror(self) -> Path:
        inside = self.path.relative_to(ROOT / "proxy")
        return ROOT / "tests" / inside.with_name(f"test_{inside.name}")


MODULES = {module.name: module for module in map(Module, sorted((ROOT / "proxy").rglob("*.py")))}
EVERY = list(MODULES.values())
CORE = [module for module in EVERY if module.name.startswith("proxy.core")]
TESTS = list(map(Module, sorted((ROOT / "tests").rglob("*.py"))))


# ── arrows ──

ROOMS = {
    "proxy.core",
    "proxy.core.backends",
    "proxy.core.caches",
    "proxy.core.dialects",
    "proxy.core.dialects.anthropic",
    "proxy.core.dialects.chat",
    "proxy.core.dialects.google",
    "proxy.core.dialects.reading",
    "proxy.core.dialects.writing",
    "proxy.core.markup",
    "proxy.core.flow",
    "proxy.core.masking",
    "proxy.core.policy",
    "proxy.core.schemas",
    "proxy.core.stream",
    "proxy.core.stream.stages",
    "proxy.core.surfaces",
    "proxy.core.surfaces.catalog",
    "proxy.core.surfaces.chat",
    "proxy.core.surfaces.memory",
    "proxy.core.surfaces.native",
    "proxy.core.surfaces.openapi",
    "proxy.core.surfaces.reading",
    "proxy.core.surfaces.responses",
    "proxy.core.tools",
    "proxy.core.tools.kinds",
    "proxy.demo",
    "proxy.shell",
    "proxy.shell.http",
    "proxy.shell.offload",
    "proxy.shell.ops",
}  # fmt: skip
"""`proxy.core` is what lies directly in it: the words that all rooms share."""

MAY_IMPORT = {
    "proxy": set(),
    "proxy.__main__": {"proxy.cli"},
    "proxy.app": {
        "proxy",
        "proxy.core",
        "proxy.core.backends",
        "proxy.core.caches",
        "proxy.core.markup",
        "proxy.core.masking",
        "proxy.core.policy",
        "proxy.core.surfaces",
        "proxy.core.surfaces.chat",
        "proxy.core.surfaces.memory",
        "proxy.core.surfaces.native",
        "proxy.core.surfaces.responses",
        "proxy.setting_values",
        "proxy.settings",
        "proxy.shell",
        "proxy.shell.http",
        "proxy.shell.offload",
        "proxy.shell.ops",
        "proxy.signing",
    },
    "proxy.cli": {
        "proxy",
        "proxy.app",
        "proxy.codex",
        "proxy.config",
        "proxy.core",
        "proxy.demo",
        "proxy.process",
        "proxy.settings",
        "proxy.supervisor",
    },
    "proxy.codex": {"proxy", "proxy.core", "proxy.shell.http"},
    "proxy.config": {"proxy.core", "proxy.settings"},
    "proxy.core": set(),
    "proxy.core.backends": {"proxy.core", "proxy.core.masking"},
    "proxy.core.caches": set(),
    "proxy.core.dialects": {
        "proxy.core",
        "proxy.core.backends",
        "proxy.core.dialects.anthropic",
        "proxy.core.dialects.chat",
        "proxy.core.dialects.google",
        "proxy.core.dialects.reading",
        "proxy.core.tools",
    },
    "proxy.core.dialects.anthropic": {
        "proxy.core",
        "proxy.core.backends",
        "proxy.core.dialects.reading",
        "proxy.core.dialects.writing",
        "proxy.core.masking",
        "proxy.core.schemas",
        "proxy.core.tools",
        "proxy.core.tools.kinds",
    },
    "proxy.core.dialects.chat": {
        "proxy.core",
        "proxy.core.backends",
        "proxy.core.dialects.reading",
        "proxy.core.dialects.writing",
        "proxy.core.masking",
        "proxy.core.tools",
        "proxy.core.tools.kinds",
    },
    "proxy.core.dialects.google": {
        "proxy.core",
        "proxy.core.backends",
        "proxy.core.dialects.reading",
        "proxy.core.dialects.writing",
        "proxy.core.masking",
        "proxy.core.tools",
        "proxy.core.tools.kinds",
    },
    "proxy.core.dialects.reading": {"proxy.core", "proxy.core.masking", "proxy.core.schemas"},
    "proxy.core.dialects.writing": {"proxy.core", "proxy.core.schemas"},
    "proxy.core.markup": {"proxy.core", "proxy.core.tools"},
    "proxy.core.flow": {room for room in ROOMS if room.startswith("proxy.core")},
    "proxy.core.masking": {"proxy.core"},
    "proxy.core.policy": {"proxy.core", "proxy.core.caches", "proxy.core.masking"},
    "proxy.core.schemas": {"proxy.core", "proxy.core.caches", "proxy.core.masking"},
    "proxy.core.stream": {
        "proxy.core",
        "proxy.core.markup",
        "proxy.core.masking",
        "proxy.core.stream.stages",
        "proxy.core.tools",
        "proxy.core.tools.kinds",
    },
    "proxy.core.stream.stages": {"proxy.core", "proxy.core.schemas"},
    "proxy.core.surfaces": {"proxy.core", "proxy.core.masking", "proxy.core.surfaces.reading"},
    "proxy.core.surfaces.catalog": {"proxy.core", "proxy.core.surfaces"},
    "proxy.core.surfaces.chat": {
        "proxy.core",
        "proxy.core.masking",
        "proxy.core.schemas",
        "proxy.core.surfaces",
        "proxy.core.surfaces.reading",
    },
    "proxy.core.surfaces.memory": {"proxy.core", "proxy.core.caches"},
    "proxy.core.surfaces.native": {
        "proxy.core",
        "proxy.core.masking",
        "proxy.core.schemas",
        "proxy.core.surfaces",
        "proxy.core.surfaces.chat",
        "proxy.core.surfaces.memory",
        "proxy.core.surfaces.reading",
    },
    "proxy.core.surfaces.openapi": {
        "proxy.core.schemas",
        "proxy.core.surfaces.chat",
        "proxy.core.surfaces.memory",
        "proxy.core.surfaces.native",
        "proxy.core.surfaces.responses",
    },
    "proxy.core.surfaces.reading": {
        "proxy.core",
        "proxy.core.masking",
        "proxy.core.schemas",
        "proxy.core.surfaces.memory",
    },
    "proxy.core.surfaces.responses": {
        "proxy.core",
        "proxy.core.caches",
        "proxy.core.masking",
        "proxy.core.surfaces",
        "proxy.core.surfaces.memory",
        "proxy.core.surfaces.reading",
        "proxy.core.tools",
        "proxy.core.tools.kinds",
    },
    "proxy.core.tools": {
        "proxy.core",
        "proxy.core.caches",
        "proxy.core.masking",
        "proxy.core.schemas",
        "proxy.core.tools.kinds",
    },
    "proxy.core.tools.kinds": {"proxy.core", "proxy.core.schemas"},
    "proxy.demo": set(),
    "proxy.process": set(),
    "proxy.setting_values": {"proxy.core", "proxy.core.backends", "proxy.core.dialects", "proxy.core.markup"},
    "proxy.settings": {"proxy.core", "proxy.core.policy", "proxy.setting_values"},
    "proxy.shell": {
        "proxy.core",
        "proxy.core.backends",
        "proxy.core.dialects",
        "proxy.core.dialects.reading",
        "proxy.core.flow",
        "proxy.core.masking",
        "proxy.core.policy",
        "proxy.core.stream",
        "proxy.core.stream.stages",
        "proxy.core.surfaces",
        "proxy.core.surfaces.catalog",
        "proxy.core.surfaces.memory",
        "proxy.core.surfaces.openapi",
        "proxy.core.surfaces.reading",
        "proxy.core.surfaces.responses",
        "proxy.shell.http",
        "proxy.shell.offload",
        "proxy.shell.ops",
    },
    "proxy.shell.http": {
        "proxy.core",
        "proxy.core.backends",
        "proxy.core.masking",
        "proxy.core.policy",
        "proxy.core.surfaces",
        "proxy.shell.ops",
    },
    "proxy.shell.offload": {
        "proxy.core",
        "proxy.core.policy",
        "proxy.core.surfaces.openapi",
        "proxy.core.tools",
        "proxy.shell.ops",
    },
    "proxy.shell.ops": {
        "proxy.core",
        "proxy.core.masking",
        "proxy.core.policy",
        "proxy.core.surfaces.openapi",
    },
    "proxy.signing": {"proxy.settings"},
    "proxy.supervisor": {
        "proxy.app",
        "proxy.settings",
        "proxy.shell",
        "proxy.shell.ops",
        "proxy.signing",
        "proxy.worker",
    },
    "proxy.worker": {"proxy.app", "proxy.process", "proxy.settings", "proxy.shell.ops"},
}
"""The rooms below each room. Within itself a room is free, as long as it goes in no circle."""


def room(name: str) -> str:
    """The room of a module; one that lies directly in the package is a room of its own."""
    inside = [room for room in ROOMS if name == room or name.startswith(f"{room}.")]
    return max(inside, key=len, default=name)


def test_arrows_point_downward_only() -> None:
    wrong = {
        f"{module.name} → {name}"
        for module in EVERY
        for name in module.own_imports
        if room(name) not in {room(module.name), *MAY_IMPORT[room(module.name)]}
    }
    assert not wrong


def test_no_imports_go_in_a_circle() -> None:
    waiting = {module.name: module.own_imports for module in EVERY}
    while free := [name for name, needs in waiting.items() if not needs & waiting.keys()]:
        for name in free:
            del waiting[name]
    assert not waiting


BACKENDS_DIALECTS = {f"proxy.core.dialects.{name}" for name in ("anthropic", "chat", "google")}
PARTS_OF_A_DIALECT = ("decode", "encode", "ending", "lessons", "urls")


def test_a_dialect_imports_no_other_dialect() -> None:
    """What two of them need lies in `reading` or `writing`, which know none of them."""
    assert not {
        f"{module.name} → {name}"
        for module in EVERY
        for name in module.own_imports
        if room(module.name).startswith("proxy.core.dialects.")
        and room(name) in BACKENDS_DIALECTS - {room(module.name)}
    }


def test_a_dialect_has_its_parts_under_the_usual_names() -> None:
    expected = {f"{dialect}.{part}" for dialect in BACKENDS_DIALECTS for part in PARTS_OF_A_DIALECT}
    assert expected <= MODULES.keys()


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
    packages = {module.name for module in EVERY if module.path.name == "__init__.py"}
    dead = MODULES.keys() - reached - packages
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


SURFACES = {"responses", "chat", "native"}
"""The folders of `proxy.core.surfaces` that are a client's language each."""


def test_no_surface_knows_another() -> None:
    """Native may know Chat, whose stricter form it is. What several of them read or tell alike lies beside them."""
    assert {
        f"{surface} → {other}"
        for surface in SURFACES
        for module in EVERY
        if room(module.name) == f"proxy.core.surfaces.{surface}"
        for other in SURFACES - {surface}
        if any(room(name) == f"proxy.core.surfaces.{other}" for name in module.own_imports)
    } == {"native → chat"}


def test_every_surface_has_the_modules_that_every_surface_has() -> None:
    assert not {
        name
        for surface in SURFACES
        for part in ("surface", "decode", "calls")
        if (name := f"proxy.core.surfaces.{surface}.{part}") not in MODULES
    }


def test_what_surfaces_share_knows_none_of_them() -> None:
    assert not {
        f"{module.name} → {name}"
        for module in EVERY
        if room(module.name) in {f"proxy.core.surfaces{inner}" for inner in ("", ".reading", ".memory")}
        for name in module.own_imports
        if room(name) in {f"proxy.core.surfaces.{surface}" for surface in SURFACES}
    }


def test_only_the_command_line_knows_the_demo() -> None:
    knowing = {
        module.name
        for module in EVERY
        if room(module.name) != "proxy.demo"
        and any(room(name) == "proxy.demo" for name in module.own_imports)
    }
    assert knowing <= {"proxy.cli", "proxy.app"}


# ── the fence around aiohttp ──

KNOWS_AIOHTTP = {"proxy.shell.server", "proxy.shell.websocket"}
"""Besides the room for HTTP, and the demo, which is another program. Half of aiohttp's own parts are used past its
promises: whoever replaces them one day has these to look at, and nothing else."""


def test_aiohttp_is_known_in_one_room_and_two_modules() -> None:
    knowing = {module.name for module in EVERY if any(name.startswith("aiohttp") for name in module.imports)}
    assert {name for name in knowing if room(name) not in {"proxy.shell.http", "proxy.demo"}} == KNOWS_AIOHTTP


# ── the core ──

OUTSIDE_WORLD = {
    "aiohttp", "asyncio", "datetime", "io", "logging", "os", "pathlib", "random", "secrets", "select", "socket", "ssl",
    "structlog", "subprocess", "sys", "tempfile", "threading", "time", "uuid", "uvloop",
}  # fmt: skip
"""Clocks, chance, files, sockets and logs: whoever needs their answer gets it as a parameter."""

HARMLESS = {
    "proxy.core.dialects.reading.retry_after imports datetime": "the type of a date that was read from a header",
    "proxy.core.caches.shelf imports threading": "a lock: large requests are read beside the event loop",
}
CLOCKS = {"now", "utcnow", "today", "time", "monotonic", "perf_counter"}
WAITING = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)
SIDE_DOORS = {"open", "print", "input", "exec", "eval", "__import__"}


def test_the_core_awaits_nothing() -> None:
    assert not {
        f"{module.name} awaits"
        for module in CORE
        for node in module.nodes
        if isinstance(node, WAITING) or (isinstance(node, ast.comprehension) and node.is_async)
    }


def test_the_core_knows_nothing_of_the_world_outside() -> None:
    assert {
        f"{module.name} imports {package}"
        for module in CORE
        for package in {name.partition(".")[0] for name in module.imports} & OUTSIDE_WORLD
    } == set(HARMLESS)


def test_the_core_asks_no_clock() -> None:
    """Not even through a class that is harmless by itself. A clock that is a parameter is called by its own name."""
    assert not {
        f"{module.name} calls {ast.unparse(node.func)}"
        for module in CORE
        for node in module.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CLOCKS
        and not ast.unparse(node.func).startswith("self.")
    }


def test_the_core_opens_and_prints_nothing() -> None:
    assert not {
        f"{module.name} calls {node.func.id}"
        for module in CORE
        for node in module.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SIDE_DOORS
    }


# ── what the log may repeat ──

NUMBERS = {"d", "g", ","}
"""Formats that no text has: what is written by them is a number, or an error."""


def test_attack_20_own_words_are_made_of_letters_in_the_code_constants_and_numbers() -> None:
    """Whatever else stood between the brackets could be a prompt."""
    assert not {
        f"{module.name}:{node.lineno}"
        for module in EVERY
        for node in module.nodes
        if isinstance(node, ast.Call)
        and "OwnWords" in ast.unparse(node.func)
        and not (len(node.args) == 1 and not node.keywords and _is_our_own(node.args[0]))
    }


def _is_our_own(words: ast.expr) -> bool:
    match words:
        case ast.Constant() | ast.Name(id=str(_)) if isinstance(words, ast.Constant) or words.id.isupper():
            return True
        case ast.JoinedStr():
            return all(map(_is_our_own, words.values))
        case ast.FormattedValue(value=value, format_spec=ast.JoinedStr(values=[ast.Constant(value=form)])):
            return form in NUMBERS or _is_our_own(value)
        case ast.FormattedValue(value=value, format_spec=None):
            return _is_our_own(value)
    return False


TELLS_CLIENTS = {"proxy.shell.backend", "proxy.shell.secret_mask"}
"""What of the shell may read a fault's message."""


def test_attack_20_a_faults_message_is_read_by_those_who_tell_clients() -> None:
    """Whoever writes a line of the log asks `fault_facts`."""
    assert {
        module.name
        for module in EVERY
        for node in module.nodes
        if module.name.startswith("proxy.shell.")
        and isinstance(node, ast.Attribute)
        and node.attr == "message"
    } == TELLS_CLIENTS


# ── counters ──

COUNTS = {"oddities", "dropped", "markup"}
READ_COUNTS = {"proxy.core.ledger", "proxy.shell.in_flight", "proxy.shell.ops.metrics"}
"""The ledger itself, the request's line in the log, and the metrics."""


def test_counters_are_write_only() -> None:
    """A ledger lives as long as its request: a stage that read a count might act upon an earlier attempt's."""
    assert {
        module.name
        for module in EVERY
        for node in module.nodes
        if isinstance(node, ast.Attribute)
        and node.attr in COUNTS
        and (ast.unparse(node.value).endswith("ledger") or module.name == "proxy.core.ledger")
    } == READ_COUNTS


# ── files ──

WITHOUT_TEST: dict[str, str] = {
    "proxy.core.facts": "names and types; who notes a fact and who reads it have tests",
    "proxy.core.catalog": "records without a rule of their own; `listing` has the tests of what fills them",
    "proxy.core.surfaces.surface": "says what surfaces promise; each is held to it by its own tests",
    "proxy.shell.relay": "the loop of the engine, whose tests run it over real sockets",
    "proxy.shell.store": "says what a store promises; each is held to it by its own tests",
    **{
        f"proxy.core.markup.{reader}": "read through every format that shares it"
        for reader in ("bodies", "expressions", "sections", "tagged")
    },
    **{
        f"proxy.core.markup.families.{family}": "its formats stand in the tables of those they resemble"
        for family in ("elements", "minimax_m3", "step")
    },
}
"""Modules without a test file of their own, each with the reason."""

WITHOUT_MODULE: dict[str, str] = {
    "tests/shell/http/test_private_names.py": "reads the list in the docstring's file, and all modules beside it",
}
"""Test files in the mirrored folders that belong to no single module, each with the reason."""


def mirrored_tests() -> Iterator[Path]:
    for place in ("core", "shell", "demo"):
        yield from (ROOT / "tests" / place).rglob("test_*.py")


def test_every_module_has_its_test() -> None:
    lonely = {module.name for module in EVERY if module.has_code and not module.mirror.is_file()}
    assert sorted(lonely) == sorted(WITHOUT_TEST)


def possible_mirrors(test: Path) -> Iterator[Path]:
    """`test_engine_failures.py` may be the test of `engine_failures.py`, or one of several of `engine.py`."""
    words = test.stem.split("_")
    return (test.with_name("_".join(words[:count]) + ".py") for count in range(len(words), 1, -1))


def test_every_test_has_its_module() -> None:
    """A module that is renamed takes its tests along. A test that is too long for one file is split by its topics."""
    mirrors = {module.mirror for module in EVERY}
    assert {
        str(path.relative_to(ROOT)) for path in mirrored_tests() if mirrors.isdisjoint(possible_mirrors(path))
    } == WITHOUT_MODULE.keys()


def test_every_module_says_what_it_is_for() -> None:
    assert not {module.name for module in EVERY if not module.docstring}


def test_every_package_names_its_modules() -> None:
    """Its docstring is the map of the folder, read before any of them is opened."""
    unnamed = set()
    for module in EVERY:
        room, _, name = module.name.rpartition(".")
        if room and name != "__main__" and not re.search(rf"\b{name}\b", MODULES[room].docstring):
            unnamed.add(module.name)
    assert not unnamed


def test_a_long_file_has_an_excuse_and_no_other() -> None:
    long = [module.name for module in EVERY if module.lines > MAX_LINES]
    long += [module.name for module in TESTS if module.lines > MAX_TEST_LINES]
    assert long == [module.name for module in EVERY + TESTS if EXCUSE in module.docstring]


def test_no_module_is_a_drawer_for_everything() -> None:
    drawers = {"utils", "util", "helpers", "common", "misc", "shared"}
    assert not {module.name for module in EVERY if drawers & set(module.name.split("."))}
