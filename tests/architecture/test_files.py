"""Files: how long they are, what they are called, and which tests belong to which modules."""

from collections.abc import Iterator
from pathlib import Path

from tests.architecture.tree import EVERY, ROOT, TESTS

MAX_LINES = 350
MAX_TEST_LINES = 500
EXCUSE = "Longer than most because"
"""How the docstring of a long file begins to explain itself."""

WITHOUT_TEST: dict[str, str] = {
    "proxy.core.examination.material": "the requests themselves; whatever reads their answers has tests",
    "proxy.core.facts": "names and types; who notes a fact and who reads it have tests",
    "proxy.core.catalog": "records without a rule of their own; `listing` has the tests of what fills them",
    "proxy.core.stored.conversation": "records without a rule of their own",
    "proxy.core.surfaces.surface": "says what surfaces promise; each is held to it by its own tests",
    "proxy.core.recorded.recording": "records without a rule of their own; `lines` reads and writes them",
    "proxy.shell.recorder.taking": "`tests/contract` has every exchange recorded and replayed",
    "proxy.settings.recorder": "settings without a rule of their own",
    "proxy.shell.keeping": "of the engine; `tests/state` runs it over real sockets",
    "proxy.shell.request_scope": "around every request, whose tests over real sockets go through it",
    "proxy.shell.relay": "the loop of the engine, whose tests run it over real sockets",
    "proxy.shell.turn_store": "says what a store promises; each is held to it by its own tests",
    "proxy.shell.stores.postgres.inspection": "of `store_database`, whose tests look at real databases",
    "proxy.commands.store_finding": "each of what it finds has tests of its own, which ask for it here",
    "proxy.commands.backend_or_demo": "of `serve` and `codex`, whose tests run it with and without a backend",
    "proxy.commands.codex": "`tests/commands/test_codex_program` runs the command",
    **{
        f"proxy.settings.{group}": "fields; what is wrong with them is asked of `loading` and of `root`"
        for group in ("backends", "section", "server", "store", "tenants")
    },
    "proxy.inspecting": "put together by `app`; the tests of `inspection` run it",
    "proxy.storage": "put together by `app`, whose tests run it",
    **{
        f"proxy.shell.stores.{part}": "tests/stores asks all engines the same"
        for part in (
            "logs",
            "meters",
            "terms",
            "memory.conversations",
            "memory.meters",
            "memory.queues",
            "memory.shelf",
            "memory.state",
            "postgres.attempt",
            "postgres.live",
            "postgres.records",
            "redis.script",
            "sql.carrier",
            "sql.census_steps",
            "sql.conversation_steps",
            "sql.limit_steps",
            "sql.live",
            "sql.live_steps",
            "sql.log_statements",
            "sql.record_steps",
            "sql.sealing_steps",
            "sql.records",
            "sql.shared_steps",
            "sql.tables",
            "sqlite.space",
        )
    },
    **{
        f"proxy.core.markup.{reader}": "read through what shares it"
        for reader in ("bodies", "expressions", "frame_tokens", "lookahead", "sections", "tagged")
    },
    **{
        f"proxy.core.markup.families.tags.{family}": "its formats stand in the tables of those they resemble"
        for family in ("elements", "minimax_m3", "step")
    },
}
"""Modules without a test file of their own, each with the reason."""

WITHOUT_MODULE: dict[str, str] = {
    "tests/core/examination/test_dialects.py": "the whole examination in each dialect",
    "tests/shell/http/test_private_names.py": "reads the list in the docstring's file, and all modules beside it",
}
"""Test files in the mirrored folders that belong to no single module, each with the reason."""


def mirrored_tests() -> Iterator[Path]:
    for place in ("core", "shell", "demo", "commands", "settings"):
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


def test_a_long_file_has_an_excuse_and_no_other() -> None:
    long = [module.name for module in EVERY if module.lines > MAX_LINES]
    long += [module.name for module in TESTS if module.lines > MAX_TEST_LINES]
    assert long == [module.name for module in EVERY + TESTS if EXCUSE in " ".join(module.docstring.split())]


def test_no_module_is_a_drawer_for_everything() -> None:
    drawers = {"utils", "util", "helpers", "common", "misc", "shared"}
    assert not {module.name for module in EVERY if drawers & set(module.name.split("."))}


def test_no_test_takes_from_another() -> None:
    """What several of them need is no test: it lies in `tests/support`, or beside them under a name that says what it
    is. From `conftest` pytest hands on fixtures by their names."""
    assert not {
        f"{module.name} takes {name}"
        for module in TESTS
        for name in module.imports
        if name.startswith("tests.")
        and any(part == "conftest" or part.startswith("test_") for part in name.split(".")[:-1])
    }
