"""The secret that proves what clients keep for us: the configured one, else one of the backends' keys, else chance.

It must be the same in all workers, and should be after a restart; but never may it follow from what anybody knows, as
the URL of a local server and its key "EMPTY" do: whoever knows it puts words into a backend's mouth.
"""

import hmac
import secrets

from pydantic import SecretStr

from proxy.settings import Settings

KEY_BYTES = 32

LEAST_CHARACTERS, LEAST_DIFFERENT = 20, 10
"""Of a key that a provider has made at random. Shorter ones, and those of letters alone, people have thought of; and a
token would let them be found by trying."""


def signed(settings: Settings) -> Settings:
    """With a signing key in them. To be done once for all workers."""
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
