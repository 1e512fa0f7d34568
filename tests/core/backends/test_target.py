"""Field `path` and chat-backends 1.1: one URL, as people paste it, is enough."""

import pytest

from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.target import Target, checked
from proxy.core.profile import DEFAULT
from tests.support.tables import table


@table(
    ("url", "words"),
    [
        ("localhost:8080", "is not a URL such as http://"),
        ("ftp://host", "is not a URL such as http://"),
        ("http://", "is not a URL such as http://"),
        ("http://host:0", "is not a URL such as http://"),
        ("http://host:99999", "is not a URL: Port out of range"),
        ("http://[::1", "is not a URL: "),
        ("https://user:hunter2@host/v1", "must not hold a user or password"),
        ("http://host/v1#part", "has a fragment"),
        ("http://my host/v1", "has no host"),
        ("http://my..host/v1", "has no host"),
        ("http://host\\v1", "has no host"),
        ("http://host\u200b/v1", "has no host"),
        (f"http://{'x' * 64}.test/v1", "has no host"),
        ("http://[::1]8000/v1", "has no host|is not a URL"),
    ],
)
def test_what_is_wrong_with_a_url_is_told_in_one_line_without_its_secrets(url: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        checked(url)
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


@table(
    "url",
    [
        "http://host.:8000",
        "http://my_host-1.local",
        "http://münchen.de/v1",
        "http://ทีวี.test:8000/v1",
        "http://127.0.0.1:8000",
        "http://[::1]:8000/v1",
        "http://[fe80::1%eth0]:8000/v1",
    ],
)
def test_a_host_has_any_name_or_address(url: str) -> None:
    assert checked(url).geturl() == url


def test_a_secret_in_a_broken_url_is_not_shown_either() -> None:
    with pytest.raises(ValueError, match="is not a URL") as caught:
        checked("ftp://user:hunter2@host/v1?key=hunter2")
    assert "hunter2" not in str(caught.value)


def test_a_target_shows_no_key_in_tracebacks() -> None:
    shown = repr(Target("t", "http://host", PROFILES["default"], key="sk-1", headers={"x-key": "sk-2"}))
    assert "sk-" not in shown


def test_f10_a_key_that_is_the_clients_is_not_ours() -> None:
    """Who is to mend a refused key: whoever runs the proxy, or whoever asked."""
    assert Target("t", "http://host", DEFAULT, key="k").own_key
    assert not Target("t", "http://host", DEFAULT, key="k", forwarded=True).own_key
    assert not Target("t", "http://host", DEFAULT).own_key
