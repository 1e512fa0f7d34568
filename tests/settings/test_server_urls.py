"""Addresses of servers: what they may be, and that nobody is shown a password."""

from typing import Any

import pytest

from proxy.settings.server_urls import SecretUrl, live_url
from tests.support.tables import table


@table(
    "url",
    [
        "redis://localhost",
        "redis://localhost:6380/3",
        "redis://:secret@10.0.0.1",
        "redis://user:se%2Fcr%40et@h:6379/0",
        "rediss://h/0?ssl_ca_certs=/etc/ca.pem&ssl_check_hostname=true",
        "valkey://h",
        "valkeys://[::1]:6379",
        "unix:///run/redis.sock",
        "unix://user:secret@/run/redis.sock?db=2",
        " redis://localhost\n",
    ],
)
def test_what_a_server_of_redis_may_be_called(url: str) -> None:
    assert live_url(SecretUrl(url)).get_secret_value() == url.strip()


@table(
    ("url", "words"),
    [
        ("", "must be redis://HOST:PORT/DATABASE, rediss:// with TLS"),
        ("localhost:6379", "must be redis://"),
        ("postgresql://h/secret", "must be redis://"),
        ("redis:h", "must be redis://"),
        ("redis://", "must be redis://"),
        ("redis:///0", "must be redis://"),
        ("unix://", "must be redis://"),
        ("redis://h:port/0", "a number as its port"),
        ("redis://h:0", "must be redis://"),
        ("redis://h:70000", "a number as its port"),
        ("redis://u:sec#ret@h/0", "a number as its port; in a password %23"),
        ("redis://u:1#secret@h/0", "in a password %23"),
        ("redis://u:1/secret@h/0", "a number as its database; in a password %23"),
        ("redis://h/secret", "a number as its database"),
        ("redis://h/٣", "a number as its database"),
        ("unix:///run/s?db=x", "a number as its database"),
        ("redis://h?socket_timeout=9", r"unknown option \(socket_timeout\): there are db, ssl_ca_certs"),
        ("redis://h?x", "a number as its port"),
    ],
)
def test_what_it_may_not_be_is_told_without_the_password(url: str, words: str) -> None:
    """U62."""
    with pytest.raises(ValueError, match=words) as failure:
        live_url(SecretUrl(url))
    assert "secret" not in str(failure.value)


@table(
    ("url", "shown", "passwords"),
    [
        ("redis://h:6379/0", "redis://h:6379/0", []),
        ("redis://user@h", "redis://user@h", []),
        ("redis://:pass@h/0", "redis://:**********@h/0", ["pass", "pass"]),
        ("redis://me:p%40ss@h/0", "redis://me:**********@h/0", ["p%40ss", "p@ss"]),
        ("unix://me:p%2Fw@/run/s?db=1", "unix://me:**********@/run/s?db=1", ["p%2Fw", "p/w"]),
        ("postgresql://h/db?password=pass", "postgresql://h/db?password=**********", ["pass", "pass"]),
        ("auto", "auto", []),
    ],
)
def test_a_password_is_shown_as_stars(url: str, shown: str, passwords: Any) -> None:
    """U62."""
    held = SecretUrl(url)
    assert (str(held), repr(held)) == (shown, f"SecretUrl({shown!r})")
    assert held.passwords == passwords
