"""Writes recordings in a thread of its own, so that no request waits for a disk.

What is to be written waits in a short queue. Where it is full, or the disk is, a recording is lost, which is counted
and said once a minute. Files of others are never touched: ours are known by their names.
"""

import os
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, Full, Queue
from typing import Protocol

from proxy.core.ids import RANDOM_BYTES
from proxy.core.masking.secrets import Secrets
from proxy.core.recorded.keys import Keys, without_keys
from proxy.core.recorded.lines import written
from proxy.core.recorded.masking import masked
from proxy.shell.ops.logs import Log
from proxy.shell.recorder.retention import ENDING, Retention
from proxy.shell.recorder.taking import recording_of
from proxy.shell.watching.watch import Watch

MOST_WAITING = 64

SAID_AGAIN_SECONDS = 60.0
SWEEP_SECONDS = 3_600.0
"""The pause between two searches for files that are too old."""

DIRECTORY_MODE, FILE_MODE = 0o700, 0o600


class Count(Protocol):
    def __call__(self, family: str, *labels: str) -> None: ...


class Writer:
    def __init__(
        self,
        directory: Path,
        retention: Retention,
        secrets: Secrets,
        version: str,
        count: Count,
        log: Log,
        *,
        masks: bool = False,
    ) -> None:
        """`masks`: is nothing to be left of what was said but its form?"""
        self._masks = masks
        self._directory = directory
        self._retention = retention
        self._secrets = secrets
        self._version = version
        self._count = count
        self._log = log
        self._waiting: Queue[Watch | None] = Queue(MOST_WAITING)
        self._said = -SAID_AGAIN_SECONDS
        self._thread = threading.Thread(target=self._write_all, name="recorder", daemon=True)

    def start(self) -> None:
        """Raises OSError if there can be no such directory."""
        self._directory.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        self._thread.start()

    def put(self, watch: Watch) -> None:
        try:
            self._waiting.put_nowait(watch)
        except Full:
            self._lost("queue_full")

    def close(self, seconds: float) -> None:
        """Writes what waits, as long as there is time."""
        try:
            self._waiting.put(None, timeout=seconds)
        except Full:
            return
        self._thread.join(seconds)

    # ── in the thread ──

    def _write_all(self) -> None:
        self._sweep()
        while (watch := self._next()) is not None:
            try:
                self._write(watch)
            except OSError as error:
                self._lost("disk", kind=type(error).__name__)
            except Exception as bug:
                self._count("recordings_lost", "bug")
                self._log.error("recording_failed", request_id=watch.request_id, exc_info=bug)
            del watch

    def _next(self) -> Watch | None:
        """Waits for the next request to write. While none comes, it still deletes files that are too old."""
        while True:
            try:
                return self._waiting.get(timeout=SWEEP_SECONDS)
            except Empty:
                self._sweep()

    def _write(self, watch: Watch) -> None:
        recording = recording_of(watch, self._version)
        if recording is None:
            return
        assert watch.content is not None
        keys = Keys(self._secrets, Secrets(watch.content.keys))
        recording = without_keys(recording, keys)
        data = written(masked(recording) if self._masks else recording)
        if not self._retention.can_hold(len(data)):
            self._lost("too_large")
            return
        self._retention.make_room(len(data))
        name = f"{_date(watch.date)}-{_named(recording.request.request_id)}-{_random()}"
        _write_at_once(self._directory / (name + ENDING), data)
        self._count("recordings", "cut" if recording.cut else "whole")

    def _sweep(self) -> None:
        try:
            self._retention.make_room(0)
        except OSError as error:
            self._lost("disk", kind=type(error).__name__)

    def _lost(self, reason: str, **fields: str) -> None:
        self._count("recordings_lost", reason)
        now = time.monotonic()
        if now - self._said >= SAID_AGAIN_SECONDS:
            self._said = now
            self._log.warning("recording_lost", reason=reason, **fields)


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%dT%H%M%S")


def _random() -> str:
    return os.urandom(RANDOM_BYTES // 4).hex()


def _named(request_id: str) -> str:
    """As much of a client's own id as a file may be called."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in request_id[:40])


def _write_at_once(path: Path, data: bytes) -> None:
    """Nobody sees half a file by its name."""
    unfinished = path.with_name(path.name + ".part")
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE), "wb") as file:
            file.write(data)
        unfinished.rename(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
