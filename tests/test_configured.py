"""What the settings make of backends."""

from proxy.configured import timeouts_of
from proxy.settings.backends import BackendSettings
from proxy.shell.http.transport import Timeouts


def test_the_wait_for_the_first_byte_is_configured_or_the_profiles_own() -> None:
    wanted = BackendSettings(first_byte_seconds=7, connect_seconds=1, idle_seconds=2, total_seconds=3)
    assert timeouts_of(wanted, 1200) == Timeouts(connect=1, first_byte=7, idle=2, total=3)
    assert timeouts_of(BackendSettings(), 1200).first_byte == 1200
