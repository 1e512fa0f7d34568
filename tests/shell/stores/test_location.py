"""Where it is kept: what the settings ask for, or else the first directory that will do."""

from pathlib import Path

import pytest

from proxy.shell.stores import location
from proxy.shell.stores.location import (
    Location,
    LocationRefused,
    StoreKind,
    locate,
    read_mounts,
    shared_kind,
)

LOCAL = "/dev/vda / ext4 rw 0 0\n"


def test_a_directory_that_is_asked_for(tmp_path: Path) -> None:
    found = locate(f"sqlite:{tmp_path}/kept", 4, {}, LOCAL)
    assert (found.kind, found.directory, found.is_less) == (StoreKind.SQLITE, tmp_path / "kept", False)
    assert found.line == f"responses are kept in {tmp_path}/kept, unless a request says `store: false`"
    assert not (tmp_path / "kept").exists(), "who only looks makes nothing"


def test_nothing_at_all() -> None:
    assert locate("off", 4, {}, LOCAL).kind is StoreKind.OFF


def test_memory_is_for_one_worker() -> None:
    """U14, T97."""
    assert locate("memory:", 1, {}, LOCAL).kind is StoreKind.MEMORY
    with pytest.raises(LocationRefused, match=r"store\.url is \"memory:\" and there are 2 workers.*sqlite:"):
        locate("memory:", 2, {}, LOCAL)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_a_database_is_shown_without_who_enters_it(scheme: str) -> None:
    """U62."""
    found = locate(f"{scheme}://me:secret@db.example:5433/kept?sslmode=require", 4, {}, LOCAL)
    assert found.kind is StoreKind.POSTGRESQL
    assert found.line.startswith(
        "responses are kept in the database kept of PostgreSQL at db.example:5433, unless"
    )
    assert "secret" not in repr(found)


def test_without_its_driver_no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(location, "find_spec", lambda _: None)
    with pytest.raises(LocationRefused, match=r"pip install '\.\[postgres\]' in"):
        locate("postgresql://me:secret@db/kept", 1, {}, LOCAL)


@pytest.mark.parametrize(
    "url", ["", "sqlite", "sqlite:", "memory", "off:", "auto:x", "redis://x", "/var/lib"]
)
def test_what_is_no_place(url: str) -> None:
    with pytest.raises(
        LocationRefused, match=r"must be auto, sqlite:DIRECTORY, postgresql://.*, memory: or off"
    ):
        locate(url, 1, {}, LOCAL)


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse.sshfs", "fuse.gcsfuse", "ceph"]
)
def test_a_shared_file_system_is_refused_or_passed_by(tmp_path: Path, kind: str) -> None:
    """U12."""
    shared = tmp_path / "far"
    mounts = f"{LOCAL}server:/x {shared} {kind} rw 0 0\n"
    with pytest.raises(LocationRefused, match=f"{shared}/a, which is on a file system of the kind {kind}"):
        locate(f"sqlite:{shared}/a", 1, {}, mounts)
    environ = {"STATE_DIRECTORY": str(shared), "HOME": str(tmp_path / "home")}
    assert locate("auto", 2, environ, mounts).directory == tmp_path / "home/.local/state/responses-proxy"
    del environ["HOME"]
    less = locate("auto", 1, environ, mounts)
    assert (less.kind, less.is_less) == (StoreKind.MEMORY, True)
    assert less.line.endswith(
        f"({shared} is on a file system of the kind {kind}; set store.url to a directory on a local disk)"
    )
    less = locate("auto", 2, environ, mounts)
    assert (less.kind, less.is_less) == (StoreKind.OFF, True)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"STATE_DIRECTORY": "{}/a:{}/b", "XDG_STATE_HOME": "{}/x", "HOME": "{}/h"}, "a"),
        ({"XDG_STATE_HOME": "{}/x", "HOME": "{}/h"}, "x/responses-proxy"),
        ({"XDG_STATE_HOME": "relative", "HOME": "{}/h"}, "h/.local/state/responses-proxy"),
        ({"STATE_DIRECTORY": "{}/file/a", "XDG_STATE_HOME": "{}/x"}, "x/responses-proxy"),
    ],
)
def test_the_first_usual_directory_that_can_be_written(
    tmp_path: Path, environ: dict[str, str], expected: str
) -> None:
    (tmp_path / "file").write_bytes(b"")
    known = {name: value.format(tmp_path, tmp_path) for name, value in environ.items()}
    assert locate("auto", 3, known, "") == Location(
        StoreKind.SQLITE,
        tmp_path / expected,
        f"responses are kept in {tmp_path / expected}, unless a request says `store: false`",
    )


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert locate("auto", 1, {"HOME": str(tmp_path / "file")}, "").kind is StoreKind.MEMORY
    assert "no directory is known" in locate("auto", 2, {}, "").line
    with pytest.raises(
        LocationRefused, match=r"^store.url: .*/file/a cannot be made, as .*/file is no directory$"
    ):
        locate(f"sqlite:{tmp_path}/file/a", 1, {}, "")


@pytest.mark.parametrize(
    ("mounts", "kind"),
    [
        ("", ""),
        ("x / nfs rw 0 0", "nfs"),
        ("x / nfs rw 0 0\ny /data ext4 rw 0 0", ""),
        ("x / ext4 rw 0 0\ny /data/a\\040b nfs rw 0 0\ntoo short", "nfs"),
        ("x / ext4 rw 0 0\ny /data/a\\040 nfs rw 0 0", ""),
        ("x /data ext4 rw 0 0\ny /data 9p rw 0 0", "9p"),
        ("x /data/a\\040b/deeper nfs rw 0 0", ""),
    ],
)
def test_the_nearest_mount_decides_and_the_last_of_several(mounts: str, kind: str) -> None:
    assert shared_kind(Path("/data/a b/c"), mounts) == kind


def test_the_mounts_of_this_system() -> None:
    assert " / " in read_mounts()
