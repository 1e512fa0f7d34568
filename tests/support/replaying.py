"""Every exchange of a test is recorded, and has the identical events when it is replayed."""

from collections.abc import Iterator

import pytest

from proxy.core.recorded.difference import differences
from proxy.core.recorded.lines import read, written
from proxy.core.recorded.masking import masked
from proxy.core.recorded.replay import replay
from proxy.shell.recorder.taking import recording_of
from proxy.shell.watching.watch import Watch
from tests.support.watching import Onlooker, have_watch

ROOM = 64 << 20


def require_identical(watch: Watch) -> None:
    recording = recording_of(watch, "tests")
    if recording is None or recording.cut:
        return
    again = read(written(recording))
    found = differences(again, replay(again))
    hidden = read(written(masked(recording)))
    found += [f"masked: {line}" for line in differences(hidden, replay(hidden))]
    if found:
        pytest.fail("\n".join(["replayed otherwise than it was:", *found]), pytrace=False)


@pytest.fixture(autouse=True)
def replayed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    onlooker = Onlooker()
    have_watch(monkeypatch, onlooker, room=ROOM)
    yield
    for watch in onlooker.ended_with:
        require_identical(watch)
