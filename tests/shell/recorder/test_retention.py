"""The directory of the recordings, which several processes share."""

import os
from pathlib import Path

from proxy.shell.recorder.retention import (
    DAY_SECONDS,
    ENDING,
    LOOK_AGAIN_PART,
    LOOK_AGAIN_SECONDS,
    UNFINISHED,
    UNFINISHED_SECONDS,
    Retention,
)

NOW = 10 * DAY_SECONDS


def put(directory: Path, name: str, size: int, age: float) -> Path:
    path = directory / name
    path.write_bytes(b"x" * size)
    os.utime(path, (NOW - age, NOW - age))
    return path


def test_the_oldest_go_first(tmp_path: Path) -> None:
    oldest, middle, newest = (put(tmp_path, f"{age}{ENDING}", 10, age) for age in (30, 20, 10))
    Retention(tmp_path, 35, 1, lambda: NOW).make_room(10)
    assert (oldest.exists(), middle.exists(), newest.exists()) == (False, True, True)


def test_what_has_had_its_time_goes(tmp_path: Path) -> None:
    old, new = put(tmp_path, f"old{ENDING}", 1, 2 * DAY_SECONDS), put(tmp_path, f"new{ENDING}", 1, 1)
    half = put(tmp_path, f"half{ENDING}{UNFINISHED}", 1, 2 * UNFINISHED_SECONDS)
    Retention(tmp_path, 100, 1, lambda: NOW).make_room(0)
    assert (old.exists(), new.exists(), half.exists()) == (False, True, False)


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    other = put(tmp_path, "notes.jsonl", 1000, 9 * DAY_SECONDS)
    Retention(tmp_path, 1, 1, lambda: NOW).make_room(10)
    assert other.exists()


def test_what_another_process_deletes_meanwhile_is_simply_gone(tmp_path: Path) -> None:
    class Hasty(Retention):
        def _files(self) -> list[tuple[float, int, Path]]:
            found = super()._files()
            for _, _, path in found:
                path.unlink()
            return found

    put(tmp_path, f"a{ENDING}", 10, 0)
    (tmp_path / f"dangling{ENDING}").symlink_to(tmp_path / "nowhere")
    Hasty(tmp_path, 1, 1, lambda: NOW).make_room(1)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_is_not_read_for_each_file(tmp_path: Path) -> None:
    now = [NOW]
    retention = Retention(tmp_path, 1000, 1, lambda: now[0])
    retention.make_room(1)
    old = put(tmp_path, f"old{ENDING}", 1, 2 * DAY_SECONDS)
    retention.make_room(1)
    assert old.exists()
    retention.make_room(1000 // LOOK_AGAIN_PART)
    assert not old.exists()
    old = put(tmp_path, f"old{ENDING}", 1, 2 * DAY_SECONDS)
    now[0] += LOOK_AGAIN_SECONDS
    retention.make_room(1)
    assert not old.exists()


def test_what_is_larger_than_all_may_be_is_held_by_none(tmp_path: Path) -> None:
    retention = Retention(tmp_path, 100, 1, lambda: NOW)
    assert retention.can_hold(100)
    assert not retention.can_hold(101)
