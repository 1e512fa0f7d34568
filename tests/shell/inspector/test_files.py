"""The files of the page: all of them are served, each as what it is, and none asks for anything from elsewhere."""

import re

from proxy.shell.inspector.files import HEADERS, INDEX, KINDS, all_files
from tests.architecture.tree import ROOT

FOLDER = ROOT / "proxy" / "shell" / "inspector" / "page"
ELSEWHERE = re.compile(rb"(?:https?:)?//[a-z0-9]+\.[a-z]|data:|@import|url\(", re.IGNORECASE)
NAMESPACE = b"http://www.w3.org/2000/svg"
MAKES_HTML = re.compile(
    rb"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|srcdoc"
    rb"|\beval\b|new Function|javascript:|style=|setTimeout\([\"'`]"
)
NAMED = re.compile(r'(?:from|href=|src=) ?"(?:\./|/inspector/)([a-z]+\.[a-z]+)"')
MAX_LINES = 350


def test_every_file_is_served() -> None:
    assert set(all_files()) == {path.name for path in FOLDER.iterdir()}
    assert all(file.content_type in KINDS.values() for file in all_files().values())


def test_nothing_comes_from_elsewhere() -> None:
    """S32: the page has no dependency."""
    assert not {
        name: found[0]
        for name, file in all_files().items()
        if (found := ELSEWHERE.search(file.body.replace(NAMESPACE, b"")))
    }


def test_no_text_becomes_html() -> None:
    """S14. The browser refuses it, too: see the policy."""
    assert not {
        name: found[0] for name, file in all_files().items() if (found := MAKES_HTML.search(file.body))
    }
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy


def test_every_file_is_needed_and_there() -> None:
    """From the page on, through what each file names."""
    reached, following = set[str](), {INDEX}
    while following:
        name = following.pop()
        reached.add(name)
        following |= set(NAMED.findall(all_files()[name].body.decode())) - reached
    assert reached == set(all_files())


def test_files_are_short() -> None:
    assert not {name for name, file in all_files().items() if file.body.count(b"\n") > MAX_LINES}
