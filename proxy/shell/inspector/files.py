"""The files of the page, as they lie in the package. A browser runs nothing else on it, and it asks nobody else.

The policy that goes with each of them allows no script and no style but these files, no other place to ask, and no
frame around them; and no text ever becomes HTML there, because the browser refuses that (`require-trusted-types-for`).
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
"""Sent with every answer to the page, including its data: nothing stays in the browser's cache."""

KINDS: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
INDEX: Final = "index.html"


class PageFile(NamedTuple):
    body: bytes
    content_type: str


@cache
def all_files() -> Mapping[str, PageFile]:
    """All files of the page by their names. They are read once, when the page is first asked for."""
    folder = files("proxy.shell.inspector") / "page"
    return {
        file.name: PageFile(file.read_bytes(), KINDS[file.name.rpartition(".")[2]])
        for file in folder.iterdir()
    }
