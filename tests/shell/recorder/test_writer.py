"""The thread that writes; what it writes is in `test_recorder`."""

import threading
from pathlib import Path
from typing import Any

import pytest

from proxy.core.masking.secrets import Secrets
from proxy.core.tenants import ANYBODY
from proxy.shell.recorder import writer as module
from proxy.shell.recorder.retention import ENDING, Retention
from proxy.shell.recorder.writer import MOST_WAITING, Writer
from proxy.shell.watching.content import ContentRoom
from proxy.shell.watching.watch import Watch
from tests.support.watching import a_content, a_watch, end, silent_log

ROOM = ContentRoom(1 << 20, 1 << 20)


class Counts:
    def __init__(self) -> None:
        self.of: dict[tuple[str, ...], int] = {}

    def __call__(self, *labels: str) -> None:
        self.of[labels] = self.of.get(labels, 0) + 1


def made(directory: Path, counts: Counts) -> Writer:
    retention = Retention(directory, 1 << 20, 1, lambda: 0.0)
    return Writer(directory, retention, Secrets(()), "0", counts, silent_log())


def watched(request_id: str = "req_1") -> Watch:
    content = a_content(ROOM)
    content.tenant = ANYBODY
    return end(a_watch(lambda: 0.0, request_id=request_id, content=content))


def test_what_waits_is_written_before_it_ends(tmp_path: Path) -> None:
    counts = Counts()
    writer = made(tmp_path, counts)
    for number in range(5):
        writer.put(watched(f"../{number}\n"))
    writer.start()
    writer.close(5)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 5
    assert all(name.startswith("19700101T000000-___") and name.endswith(ENDING) for name in names)
    assert counts.of == {("recordings", "whole"): 5}


def test_also_while_nothing_comes_files_have_their_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SWEEP_SECONDS", 0.001)
    swept = threading.Semaphore(0)
    monkeypatch.setattr(Retention, "make_room", lambda retention, size: swept.release())
    writer = made(tmp_path, Counts())
    writer.start()
    for _ in range(3):
        assert swept.acquire(timeout=5)
    writer.close(5)


def test_a_full_queue_loses_what_comes(tmp_path: Path) -> None:
    counts = Counts()
    writer = made(tmp_path, counts)
    for _ in range(MOST_WAITING + 2):
        writer.put(watched())
    assert counts.of == {("recordings_lost", "queue_full"): 2}
    writer.close(0.01)
    assert threading.active_count() >= 1


def test_a_mistake_in_one_is_the_end_of_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = Counts()
    writer = made(tmp_path, counts)
    right = module.recording_of

    def wrong(watch: Watch, version: str) -> Any:
        if watch.request_id == "wrong":
            raise RuntimeError
        return right(watch, version)

    monkeypatch.setattr(module, "recording_of", wrong)
    writer.put(watched("wrong"))
    writer.put(watched())
    writer.start()
    writer.close(5)
    assert counts.of == {("recordings_lost", "bug"): 1, ("recordings", "whole"): 1}
