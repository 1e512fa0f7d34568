"""`responses-proxy store encrypt` as people call it, and what `store info` says of keys: in files and in a database."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from proxy.commands.store_encryption import by_keys
from proxy.shell.stores.sealing.aes import AesKey
from proxy.shell.stores.sealing.seals import Seals
from tests.support.postgres import fresh_url
from tests.support.processes import serving
from tests.support.store_commands import SERVE, answer, run, told
from tests.support.stores import Terms, postgres_at, record, sqlite_at, talk

OLD, NEW = "0123456789abcdef-last-year", "fedcba9876543210-this-year"
OLD_ID, NEW_ID = AesKey(OLD).id.hex(), AesKey(NEW).id.hex()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return asyncio.run(fresh_url()) if request.param == "postgresql" else f"sqlite:{tmp_path}/state"


def engine_at(url: str, *keys: str) -> Any:
    seals = Seals([AesKey(key) for key in keys])
    if url.startswith("postgresql"):
        return postgres_at(url, seals=seals)
    return sqlite_at(Path(url.removeprefix("sqlite:"), "state.db"), Terms(), seals)


async def kept(url: str, *keys: str, responses: int, conversations: int = 0) -> None:
    engine = engine_at(url, *keys)
    await engine.open()
    for _ in range(responses):
        await engine.save("t", record())
    for _ in range(conversations):
        await engine.create("t", talk())
    await engine.close()


def with_keys(monkeypatch: pytest.MonkeyPatch, *keys: str) -> None:
    monkeypatch.setenv("PROXY_STORE_KEYS", ", ".join(keys))


def rows(shown: str) -> list[str]:
    """What it says of keys, line by line."""
    lines = shown.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("encrypted"))
    end = next(number for number, line in enumerate(lines) if number > first and line[:1] != " ")
    return [line[15:] for line in lines[first:end]]


def test_a_key_is_rotated(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """U61: the first one, then another, then the first is taken away."""
    asyncio.run(kept(url, responses=3, conversations=2))
    at = ("--store", url)
    assert told("encrypted", run("store", "info", *at)[1]) == "no"
    with_keys(monkeypatch, OLD)
    assert rows(run("store", "info", *at)[1]) == [f"0 rows with {OLD_ID}, the first key", "5 rows not at all"]
    code, shown, complaint = run("store", "encrypt", *at)
    assert (code, complaint) == (0, "")
    assert shown.startswith(
        f"Encrypted with {OLD_ID}, the first of store.keys: 3 responses and 2 conversations.\nOther keys are"
    )
    asyncio.run(kept(url, responses=1))
    with_keys(monkeypatch, NEW, OLD)
    code, shown, _ = run("store", "encrypt", *at)
    assert (code, shown.splitlines()[0][-34:]) == (0, ": 4 responses and 2 conversations.")
    with_keys(monkeypatch, NEW)
    assert rows(run("store", "info", *at)[1]) == [f"6 rows with {NEW_ID}, the first key", "0 rows not at all"]
    code, shown, _ = run("store", "encrypt", *at)
    assert shown.splitlines()[0].endswith(": 0 responses and 0 conversations.")


def test_what_cannot_be_read_is_named_and_left(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """U61"""
    asyncio.run(kept(url, OLD, responses=2, conversations=1))
    asyncio.run(kept(url, NEW, responses=1))
    with_keys(monkeypatch, NEW)
    assert rows(run("store", "info", "--store", url)[1]) == [
        f"1 rows with {NEW_ID}, the first key",
        f"3 rows with {OLD_ID}, NOT in store.keys",
        "0 rows not at all",
    ]
    code, shown, _ = run("store", "encrypt", "--store", url)
    assert code == 0
    assert shown.splitlines()[1].startswith("Left as they are, damaged or opened by no key of store.keys")
    assert shown.splitlines()[1].endswith(": 2 responses and 1 conversation.")
    monkeypatch.delenv("PROXY_STORE_KEYS")
    assert rows(run("store", "info", "--store", url)[1])[-1] == "0 rows not at all"


def test_without_a_key_there_is_nothing_to_encrypt_with(url: str) -> None:
    asyncio.run(kept(url, responses=1))
    code, shown, complaint = run("store", "encrypt", "--store", url)
    assert (code, shown) == (1, "")
    assert complaint.startswith("store.keys has no key")


@pytest.mark.parametrize(
    ("ids", "sealed_by", "lines"),
    [
        ([], {}, ["no"]),
        ([], {"": 3}, ["no"]),
        ([], {"": 3, "b": 1}, ["1 rows with b, NOT in store.keys", "3 rows not at all"]),
        (
            ["c", "a"],
            {"": 1, "a": 2, "b": 3},
            [
                "0 rows with c, the first key",
                "2 rows with a, listed",
                "3 rows with b, NOT in store.keys",
                "1 rows not at all",
            ],
        ),
    ],
)
def test_each_key_has_a_line(ids: Sequence[str], sealed_by: dict[str, int], lines: list[str]) -> None:
    found = list(by_keys(ids, sealed_by))
    assert [line for _, line in found] == lines
    assert [name for name, _ in found] == ["encrypted"] + [""] * (len(lines) - 1)


# ── the program around it ──


BACKEND = ("--backend", "http://127.0.0.1:9")


@pytest.mark.parametrize(
    "command",
    [
        ("store", "info"),
        ("store", "sweep"),
        ("check-config",),
        (*SERVE[2:], *BACKEND),
        (*SERVE[2:], *BACKEND, "--workers", "2"),
    ],
)
def test_without_its_package_nothing_starts(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """U61: one line says what to install."""
    at = f"sqlite:{tmp_path}/state"
    asyncio.run(kept(at, responses=1))
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    monkeypatch.delitem(sys.modules, "proxy.shell.stores.sealing.aes")
    with_keys(monkeypatch, NEW)
    code, shown, complaint = run(*command, "--store", at)
    assert (code, shown) == (2, "")
    assert complaint.count("\n") == 1
    assert "pip install '.[sealed]'" in complaint


def test_keys_are_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """U61, U62: masked, never named in a complaint, in no log, and too short ones are refused."""
    config = tmp_path / "proxy.toml"
    config.write_text(
        f'[store]\nurl = "sqlite:{tmp_path}/state"\nkeys = ["{NEW}", "{OLD}"]\n', encoding="utf-8"
    )
    code, shown, _ = run("show-config", "--config", config)
    assert code == 0
    assert NEW not in shown
    assert OLD not in shown
    assert 'keys = ["**********", "**********"]' in shown
    code, shown, _ = run("check-config", "--config", config, "--backend", "http://127.0.0.1:9")
    assert (code, shown.count(f"they are encrypted with the key {NEW_ID}")) == (0, 1)
    lines = tmp_path / "log"
    with serving(*SERVE, "--config", config, "--log-level", "debug", lines=lines) as at:
        assert answer(at)["store"] is True
    logged = lines.read_text(encoding="utf-8")
    assert NEW not in logged
    assert f"they are encrypted with the key {NEW_ID}" in logged
    with_keys(monkeypatch, "too-short")
    code, _, complaint = run("show-config", "--config", config)
    assert code == 2
    assert "at least 16 characters" in complaint
    assert "too-short" not in complaint


@pytest.mark.parametrize("where", ["memory:", "off"])
def test_what_lies_on_no_disk_is_not_said_to_be_encrypted(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_keys(monkeypatch, NEW)
    code, shown, _ = run("check-config", "--store", where, *BACKEND)
    assert (code, "encrypted" in shown) == (0, False)
