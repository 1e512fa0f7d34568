"""`responses-proxy store …` as people call it, in processes of their own, while a proxy runs on the same files."""

import os
import pty
import re
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from proxy.shell.stores.sqlite.schema import is_fixed
from tests.support.processes import ROOT, serving
from tests.support.store_commands import KEYS, PROMPTLY, SERVE, answer, run, run_alone, told


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state/responses-proxy"


# ── what there is ──


def test_what_is_kept_is_shown_while_a_proxy_runs_and_afterwards(state: Path) -> None:
    with serving(*SERVE, "--workers", "2") as url:
        first = answer(url)
        answer(url, previous_response_id=first["id"])
        answer(url, "conversations")
        code, shown, complaint = run_alone("store", "info")
        assert (code, complaint) == (0, "")
        assert told("directory", shown) == str(state)
        assert told("engine", shown) == f"SQLite {sqlite3.sqlite_version}, tables of version 1"
        assert told("used by", shown) == "2 running processes"
        assert (told("responses", shown), told("completed", shown), told("conversations", shown)) == (
            "2",
            "2",
            "1",
        )
        assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", told("oldest", shown))
        assert re.fullmatch(r"\d+\.\d KiB of 10 GiB at most", told("size", shown))
        assert told("kept for", shown) == "30 days; conversations until they are deleted"
    code, shown, _ = run("store", "info", "--store", f"sqlite:{state}")
    assert (code, told("used by", shown), told("responses", shown)) == (0, "0 running processes", "2")
    assert ("This SQLite lacks a correction" in shown) is not is_fixed(), "U13"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), r"Nothing is kept in .*/state/responses-proxy yet; .*`store_chosen`.*--store sqlite:DIRECTORY"),
        (("--store", "off"), r'store\.url is "off": nothing is kept'),
        (("--store", "memory:"), r'.*in the memory of the proxy.*store\.url = "sqlite:DIRECTORY"'),
    ],
)
def test_where_nothing_is_kept_it_is_told_why(
    options: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    code, shown, complaint = run("store", "info", *options)
    assert (code, shown) == (1, "")
    assert re.match(expected, complaint), complaint
    assert complaint.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("action", [("sweep",), ("backup", "copy"), ("forget-tenant", "ann", "--yes")])
def test_nothing_is_begun_by_a_command(action: tuple[str, ...], tmp_path: Path) -> None:
    code, shown, complaint = run("store", *action)
    assert (code, shown) == (1, "")
    assert complaint.startswith("Nothing is kept in ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "workers"),
    [(("store", "info"), "1"), (("check-config",), "2"), (SERVE[2:], "1"), (SERVE[2:], "2")],
)
def test_a_file_that_cannot_be_used_is_one_line_and_exit_code_1(
    command: tuple[str, ...], workers: str, state: Path
) -> None:
    """U11, U17, U63: each worker would say it, and only one does."""
    state.mkdir(parents=True)
    (state / "state.db").write_bytes(b"no file of SQLite" * 1000)
    code, shown, complaint = run_alone(*command, "--workers", workers, "--backend", "http://127.0.0.1:9")
    assert (code, shown) == (1, "")
    assert complaint.startswith(f"{state}/state.db is damaged (file is not a database). ")
    assert complaint.count("\n") == 1
    (state / "state.db").unlink()
    with closing(sqlite3.connect(state / "state.db", isolation_level=None)) as later:
        later.execute("create table about (one, version, readable_from)")
        later.execute("insert into about values (1, 9, 8)")
    code, shown, complaint = run_alone(*command, "--workers", workers, "--backend", "http://127.0.0.1:9")
    assert (code, shown) == (1, "")
    assert complaint.startswith(f"{state}/state.db was written by a later version of the proxy ")
    assert complaint.count("\n") == 1


@pytest.mark.parametrize("command", [("store", "info"), ("check-config",), SERVE[2:]])
def test_memory_is_refused_to_several_workers_once(command: tuple[str, ...]) -> None:
    """T97, U14: by one line, not by each worker."""
    code, shown, complaint = run_alone(*command, "--workers", "2", "--store", "memory:")
    assert (code, shown) == (2, "")
    assert complaint.startswith('store.url is "memory:" and there are 2 workers: ')
    assert complaint.count("\n") == 1


def test_the_settings_are_checked_without_a_trace(state: Path, tmp_path: Path) -> None:
    line = "The settings are valid. With them, {}. No backend is configured, so a demo model answers. For another:"
    line += " --backend URL\n"
    kept = f"responses are kept in {state}, unless a request says `store: false`"
    assert run("check-config") == (0, line.format(kept), "")
    assert not (tmp_path / "state").exists()
    assert run("check-config", "--store", "off")[1].startswith(
        "The settings are valid. With them, nothing is kept"
    )


# ── changes ──


def test_what_has_expired_is_swept_now(state: Path, tmp_path: Path) -> None:
    config = tmp_path / "proxy.toml"
    with serving(*SERVE) as url:
        for _ in range(3):
            answer(url, input="x" * 50_000)
        config.write_text("[store]\nretention_days = 0.0000001\n")
        code, shown, complaint = run("store", "sweep", "--config", config)
        assert (code, complaint) == (0, "")
        assert shown.startswith("Deleted: 3 that had expired, 0 because of store.max_gib, 0 logs.\nSize: ")
        assert told("responses", run("store", "info")[1]) == "0"
        answer(url)
        config.write_text("[store]\nmax_gib = 0.0000001\n")
        assert ", 1 because of store.max_gib" in run("store", "sweep", "--config", config)[1]
        assert answer(url)["store"] is True


def test_a_copy_is_made_while_a_proxy_runs_and_another_begins_with_it(state: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copies" / "state.db"
    copy.parent.mkdir()
    with serving(*SERVE) as url:
        first = answer(url)["id"]
        code, shown, _ = run("store", "backup", copy)
        assert (code, re.sub(r"\d+\.\d KiB", "…", shown)) == (
            0,
            f"{copy}: 1 response and 0 conversations, ….\n",
        )
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    before = copy.read_bytes()
    code, _, complaint = run("store", "backup", copy)
    assert (code, complaint) == (1, f"{copy} is there already, and is not overwritten: choose another name\n")
    assert copy.read_bytes() == before
    assert run("store", "backup", tmp_path / "none" / "copy")[0] == 1
    assert [path.name for path in copy.parent.iterdir()] == ["state.db"], "nothing is left beside it"
    with serving(*SERVE, "--store", f"sqlite:{copy.parent}") as url:
        assert answer(url, previous_response_id=first)["previous_response_id"] == first


def test_a_copy_is_put_back_as_the_docs_say(state: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    process, url = killable()
    first = answer(url)["id"]
    assert run("store", "backup", copy)[0] == 0
    answer(url, previous_response_id=first)
    process.kill()
    process.communicate()
    assert (state / "state.db-wal").stat().st_size > 0
    for path in state.iterdir():
        if path.name in ("state.db-wal", "state.db-shm") or path.name.startswith("live.db"):
            path.unlink()
    copy.replace(state / "state.db")
    assert told("responses", run("store", "info")[1]) == "1"
    with serving(*SERVE) as url:
        assert answer(url, previous_response_id=first)["previous_response_id"] == first


def killable() -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen([sys.executable, *SERVE], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"Listening on (\S+)/v1", line):
            return process, found[1]
    raise AssertionError("it ended")


def test_a_copy_that_fails_leaves_nothing(state: Path, tmp_path: Path) -> None:
    """As when the disk is full: here no file may be longer than a few bytes."""
    with serving(*SERVE) as url:
        answer(url)
    target = tmp_path / "copies" / "copy"
    target.parent.mkdir()
    limited = "ulimit -f 16; trap '' XFSZ; exec \"$@\""
    command = [sys.executable, "-m", "proxy", "store", "backup", str(target)]
    ended = subprocess.run(
        ["bash", "-c", limited, "bash", *command], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert not list(target.parent.iterdir())


def test_a_tenant_is_forgotten_and_no_other(state: Path, tmp_path: Path) -> None:
    config = tmp_path / "proxy.toml"
    config.write_text(KEYS)
    with serving(*SERVE, "--config", config) as url:
        for key in ("ann", "ann", "bob"):
            kept = answer(url, key=key)["id"]
        answer(url, "conversations", key="ann")
        assert told("tenants", run("store", "info")[1]) == "ann, bob"
        code, shown, complaint = run("store", "forget-tenant", "ann")
        assert (code, shown) == (2, "")
        assert complaint == "Nothing was deleted. To go on without being asked: --yes\n"
        forgotten = (0, "Deleted: 2 responses and 1 conversation of the tenant 'ann'.\n", "")
        assert run("store", "forget-tenant", "ann", "--yes") == forgotten
        nothing = "Nothing was kept of the tenant 'ann'. Something is kept of: bob\n"
        assert run("store", "forget-tenant", "ann") == (0, nothing, ""), "and nobody is asked"
        assert told("tenants", run("store", "info")[1]) == "bob"
        assert answer(url, key="bob", previous_response_id=kept)["store"] is True


@pytest.mark.parametrize(("typed", "left"), [("anybody", "0"), ("yes", "1"), ("", "1")])
def test_on_a_terminal_the_name_is_asked_for(state: Path, typed: str, left: str) -> None:
    with serving(*SERVE) as url:
        answer(url)
    mine, theirs = pty.openpty()
    command = [sys.executable, "-m", "proxy", "store", "forget-tenant", "anybody"]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
        os.close(theirs)
        os.write(mine, f"{typed}\n".encode())
        shown, _ = process.communicate(timeout=PROMPTLY)
    os.close(mine)
    assert (
        "1 response and 0 conversations of the tenant 'anybody' will be deleted for good. Type the name"
        in shown
    )
    assert told("responses", run("store", "info")[1]) == left
