"""The secret that signs what clients keep for the proxy: the configured one, else one from the backends' keys, else a
random one.

It must be the same in all workers, and should be the same after a restart. But it must never be derived from what
others know, such as the URL of a local server and its key "EMPTY": whoever knows it can forge reasoning of a model.
"""

import hmac
import secrets

from pydantic import SecretStr

from proxy.settings.root import Settings

KEY_BYTES = 32

LEAST_CHARACTERS, LEAST_DIFFERENT = 20, 10
"""What a provider's random key has at least. People invent shorter ones, and ones of letters alone, which could be
found from a token by trying."""


def signed(settings: Settings) -> Settings:
    """Returns the settings with a signing key, made once for all workers."""
    if settings.server.signing_key is not None:
        return settings
    key = SecretStr(_of_keys(settings) or secrets.token_hex(KEY_BYTES))
    return settings.model_copy(update={"server": settings.server.model_copy(update={"signing_key": key})})


def _of_keys(settings: Settings) -> str | None:
    keys = (backend.key.get_secret_value() for backend in settings.all_backends.values() if backend.key)
    strong = sorted({key for key in keys if _is_strong(key)})
    return (
        hmac.digest(b"responses-proxy signing key", "\0".join(strong).encode(), "sha256").hex()
        if strong
        else None
    )


def _is_strong(key: str) -> bool:
    return (
        len(key) >= LEAST_CHARACTERS
        and len(set(key)) >= LEAST_DIFFERENT
        and any(map(str.isdigit, key))
        and any(map(str.isalpha, key))
    )
