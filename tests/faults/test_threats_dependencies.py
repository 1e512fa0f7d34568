"""What we stand on (S32)."""

import re
from pathlib import Path

import aiohttp

ROOT = Path(__file__).parents[2]


def test_s32_every_dependency_is_pinned_by_what_is_in_it() -> None:
    """Each line of the locks has a version and the digests of its files."""
    for lock in (ROOT / "scripts/locks").glob("*.txt"):
        wanted = re.split(r"\n(?=\S)", lock.read_text(encoding="utf-8").replace("\\\n", ""))
        pins = [pin for pin in wanted if pin.strip() and not pin.startswith(("#", "--"))]
        assert pins
        for pin in pins:
            assert re.match(r"\S+==\S+", pin), pin
            assert "--hash=sha256:" in pin, pin


def test_s32_known_holes_are_below_what_is_installed() -> None:
    """S12, F69: and the parser is the one in C."""
    assert tuple(int(part) for part in aiohttp.__version__.split(".")[:3]) >= (3, 14, 1)
    assert aiohttp.http.HttpRequestParser.__module__ == "aiohttp._http_parser"
