"""The seals of the settings, if what makes them is installed."""

from collections.abc import Sequence
from typing import Final

from proxy.shell.stores.location import LocationRefused
from proxy.shell.stores.sealing.seals import Seals, Told, told_nobody

NOT_INSTALLED: Final = (
    "store.keys seal what is kept, and the package that does so is not installed:"
    " pip install '.[sealed]' in a checkout of the proxy"
)


def seals_with(secrets: Sequence[str], told: Told = told_nobody) -> Seals:
    """Raises LocationRefused. Imported here, as what it needs may not be installed."""
    if not secrets:
        return Seals(told=told)
    try:
        from proxy.shell.stores.sealing.aes import AesKey
    except ImportError:
        raise LocationRefused(NOT_INSTALLED) from None
    return Seals([AesKey(secret) for secret in secrets], told)
