"""Files and images that stand inside a request, as data URLs: what they are, and what is in them."""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from proxy.core.errors import ClientFault

_SCHEME = "data:"
_CODED = ";base64"
_READABLE = re.compile(
    r"text/.*|application/(?:.*\+)?(?:json|xml|yaml|x-yaml|toml|javascript|sql)", re.IGNORECASE
)

_PROPERLY = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/x-png": "image/png",
    "application/x-pdf": "application/pdf",
}
"""Maps names of types that were never registered. Clients send them, and only some backends know what is meant."""


@dataclass(frozen=True, slots=True)
class DataUrl:
    media_type: str
    """The type is in lower case; it is empty where the URL does not say it."""
    base64: str

    @property
    def is_text(self) -> bool:
        return _READABLE.fullmatch(self.media_type) is not None

    @property
    def is_image(self) -> bool:
        return self.media_type.startswith("image/")

    def text(self) -> str:
        return b64decode(self.base64).decode("utf-8-sig", "replace")


def read(url: str, path: str) -> DataUrl | None:
    """Gives None for any other URL. It raises ClientFault, which names the place of the URL, when the URL does not hold
    what it says."""
    if url[: len(_SCHEME)].lower() != _SCHEME:
        return None
    head, comma, data = url[len(_SCHEME) :].partition(",")
    if not comma:
        return None
    head = head.lower()
    media_type = head.partition(";")[0]
    media_type = _PROPERLY.get(media_type, media_type)
    if not head.endswith(_CODED):
        return DataUrl(media_type, b64encode(unquote_to_bytes(data)).decode())
    if "%" in data:
        data = unquote_to_bytes(data).decode("latin-1")
    try:
        b64decode(data, validate=True)
    except (Base64Error, ValueError):
        raise ClientFault(
            f"{path} is no valid data URL: what follows 'base64,' must be base64.",
            param=path,
            code="invalid_value",
        ) from None
    return DataUrl(media_type, data)
