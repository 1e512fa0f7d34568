"""`responses-proxy store …` on a database, while a proxy uses it."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.support.postgres import Server, fresh_url
from tests.support.processes import serving
from tests.support.store_commands import KEYS, SERVE, answer, run, run_alone, told


@pytest.fixture
async def url() -> str:
    return await fresh_url()


def settings(tmp_path: Path, url: str, more: str = "") -> Path:
    """As it should be given: not on the command line, which everybody on the machine can read."""
    path = tmp_path / "proxy.toml"
    path.write_text(f'[store]\nurl = "{url}"\n{more}')
    return path


async def test_what_is_kept_is_shown_and_changed_while_proxies_run(url: str, tmp_path: Path) -> None:
    """U03, U62."""
    config = settings(tmp_path, url.replace("postgres@", "postgres:secret@"), KEYS)
    code, shown, complaint = await asyncio.to_thread(run_alone, "check-config", "--config", str(config))
    assert (code, complaint) == (0, "")
    assert "; its tables will be made at the start." in shown
    code, _, complaint = await asyncio.to_thread(run_alone, "store", "info", "--config", str(config))
    assert code == 1
    assert "has no tables of the store yet: a proxy makes them" in complaint
    code, shown, _ = await asyncio.to_thread(run_alone, "store", "migrate", "--config", str(config))
    assert (code, shown.endswith(", tables of version 1.\n")) == (0, True)
    await asyncio.to_thread(_work, config)


def _work(config: Path) -> None:
    with (
        serving(*SERVE, "--config", str(config), "--workers", "2") as one,
        serving(*SERVE, "--config", str(config)) as two,
    ):
        first = answer(one, key="ann")
        answer(two, key="ann", previous_response_id=first["id"])
        answer(two, "conversations", key="bob")
        code, shown, complaint = run_alone("store", "info", "--config", str(config))
        assert (code, complaint) == (0, "")
        assert re.fullmatch(
            r"the database postgres of PostgreSQL at 127\.0\.0\.1:\d+", told("kept in", shown)
        )
        assert re.fullmatch(r"PostgreSQL 1\d.*, tables of version 1", told("engine", shown))
        assert told("used by", shown) == "3 running processes"
        assert (told("responses", shown), told("conversations", shown)) == ("2", "1")
        assert re.fullmatch(r"[\d.]+ [KM]iB", told("on disk", shown))
        code, shown, _ = run_alone("check-config", "--config", str(config))
        assert (code, "with tables of version 1 is there." in shown) == (0, True)
        code, shown, _ = run_alone("store", "sweep", "--config", str(config))
        assert (code, shown.startswith("Deleted: 0 that had expired, ")) == (0, True)
        code, _, complaint = run_alone(
            "store", "backup", str(config.with_name("copy")), "--config", str(config)
        )
        assert code == 1
        assert re.match(r"PostgreSQL makes its own backups, .*`pg_dump ", complaint)
        assert not config.with_name("copy").exists()
        code, shown, _ = run_alone("store", "forget-tenant", "ann", "--yes", "--config", str(config))
        assert shown == "Deleted: 2 responses and 0 conversations of the tenant 'ann'.\n"
        for command in (("show-config",), ("store", "info"), ("check-config",)):
            _, shown, complaint = run_alone(*command, "--config", str(config))
            assert "secret" not in shown + complaint
        assert (
            "postgresql://postgres:**********@127.0.0.1:"
            in run_alone("show-config", "--config", str(config))[1]
        )


@pytest.mark.parametrize(
    ("command", "workers"),
    [(("store", "info"), "1"), (("check-config",), "2"), (SERVE[2:], "1"), (SERVE[2:], "2")],
)
async def test_a_database_that_cannot_be_used_is_one_line_and_exit_code_1(
    command: tuple[str, ...], workers: str, url: str, tmp_path: Path
) -> None:
    """U63, U62."""
    config = settings(tmp_path, url.replace("postgres@", "stranger:secret@"))
    options = ("--config", str(config), "--workers", workers, "--backend", "http://127.0.0.1:9")
    code, shown, complaint = await asyncio.to_thread(run_alone, *command, *options)
    assert (code, shown) == (1, "")
    assert re.match(r"the database postgres of PostgreSQL at .* refuses the user: ", complaint)
    assert complaint.count("\n") == 1
    assert "secret" not in complaint


async def test_one_that_is_away_ends_no_start(tmp_path: Path) -> None:
    config = settings(tmp_path, Server().url())
    code, shown, _ = await asyncio.to_thread(run_alone, "check-config", "--config", str(config))
    assert (code, "; but now that does not work (" in shown) == (0, True)

    def ask() -> None:
        with serving(*SERVE, "--config", str(config)) as proxy:
            assert answer(proxy)["store"] is False

    await asyncio.to_thread(ask)


async def test_a_url_that_is_none_is_not_repeated(tmp_path: Path) -> None:
    """U62."""
    config = settings(tmp_path, "postgre://me:secret@db/kept")
    code, _, complaint = run("check-config", "--config", config)
    assert code == 2
    assert "must be auto, sqlite:DIRECTORY, postgresql://" in complaint
    assert "secret" not in complaint
