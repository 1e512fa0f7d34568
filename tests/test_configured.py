"""What the settings make of backends, memory and onlookers."""

from typing import Any

import pytest

from proxy import configured
from proxy.configured import inspector_readers_of, timeouts_of
from proxy.core.tenants import EVERYBODY, Tenants
from proxy.settings.backends import BackendSettings
from proxy.settings.root import Settings
from proxy.shell.http.transport import Timeouts
from tests.support.tables import table


def test_the_wait_for_the_first_byte_is_configured_or_the_profiles_own() -> None:
    wanted = BackendSettings(first_byte_seconds=7, connect_seconds=1, idle_seconds=2, total_seconds=3)
    assert timeouts_of(wanted, 1200) == Timeouts(connect=1, first_byte=7, idle=2, total=3)
    assert timeouts_of(BackendSettings(), 1200).first_byte == 1200


@table(
    ("server", "machine", "expected"),
    [
        ({}, 64 << 30, 2 << 30),
        ({}, 1 << 30, 512 << 20),
        ({"workers": 4}, 4 << 30, 512 << 20),
        ({"workers": 4}, None, 2 << 30),
        ({"memory_mib": 100, "workers": 4}, 1 << 30, 100 << 20),
    ],
)
def test_attack_14_a_small_machine_gives_half_of_what_it_has(
    server: dict[str, Any], machine: int | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configured, "memory_bytes", lambda: machine)
    assert configured.memory_of(Settings.model_validate({"server": server})) == expected


KEY = "a" * 64


@table(
    ("given", "everybody", "somebody"),
    [
        ({}, True, True),
        ({"server": {"open": True}}, False, False),
        ({"server": {"host": "0.0.0.0", "open": True}}, False, False),
        ({"tenants": {"a": {"keys": ["b" * 64]}}}, False, False),
        ({"tenants": {"a": {"keys": ["b" * 64]}}, "inspector": {"keys": [KEY]}}, False, True),
        ({"inspector": {"keys": [KEY]}}, False, True),
    ],
)
def test_the_inspector_is_for_this_machine_or_for_keys(
    given: dict[str, Any], everybody: bool, somebody: bool
) -> None:
    """S30."""
    readers = inspector_readers_of(Settings.model_validate(given))
    assert (readers is EVERYBODY) is everybody
    assert isinstance(readers, Tenants) is somebody
