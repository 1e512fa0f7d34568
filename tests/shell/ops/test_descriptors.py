"""attack-18: as many descriptors as may be had, and room for a backend's connection beside each client's."""

import resource
import subprocess
import sys

import pytest

from proxy.shell.ops import descriptors

RAISED = """\
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
from proxy.shell.ops import descriptors
print(descriptors.raised(), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(("soft", "hard"), [(100, 200), (200, 200)])
def test_the_soft_limit_is_raised_to_the_hard_one(soft: int, hard: int) -> None:
    code = RAISED.format(soft=soft, hard=hard)
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["200", "200", "200"]


def test_no_more_is_asked_for_than_is_of_use(monkeypatch: pytest.MonkeyPatch) -> None:
    infinite = resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda _: (infinite, infinite))
    assert descriptors.raised() == descriptors.WANTED


def test_where_it_may_not_be_raised_it_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "getrlimit", lambda _: (100, 1000))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert descriptors.raised() == 100


def test_windows_has_no_such_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    assert descriptors.raised() == descriptors.WANTED


@pytest.mark.parametrize(("limit", "room"), [(1024, 480), (256, 96), (10, 2)])
def test_each_client_may_have_a_connection_to_a_backend(limit: int, room: int) -> None:
    assert descriptors.room_for_clients(limit) == room


def test_it_is_seen_when_none_is_left() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert not descriptors.exhausted()
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        assert descriptors.exhausted()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
