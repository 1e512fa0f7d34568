"""Which names are this machine's, however they are written (S31, attack-09)."""

import pytest

from proxy.core.errors import ClientFault
from proxy.core.policy.hosts import Hosts

LOCAL = Hosts(["127.0.0.1", "My-Name.example", "fe80::1"])


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LocalHost:8080",
        "localhost:",
        "127.0.0.1:80",
        "127.9.9.9",
        "[::1]",
        "[::1]:8080",
        "my-name.EXAMPLE:1",
        "[fe80::1]:5",
    ],
)
def test_what_is_ours(host: str) -> None:
    LOCAL.check([host])


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "128.0.0.1",
        "0.0.0.0",
        "10.0.0.1:8080",
        "localhost:80@evil.example",
        "evil.example/localhost",
        "localhost, evil.example",
        "[::2]",
        "[localhost",
        "[]",
        "::1",
        "",
    ],
)
def test_what_is_anybodys(host: str) -> None:
    with pytest.raises(ClientFault, match=r"server\.allowed_hosts") as refused:
        LOCAL.check([host])
    assert (refused.value.status, refused.value.code) == (403, "host_not_allowed")


def test_every_one_that_is_told_must_be_ours_and_none_is_no_browser() -> None:
    LOCAL.check([])
    with pytest.raises(ClientFault):
        LOCAL.check(["localhost", "evil.example"])


def test_where_something_else_keeps_strangers_out_any_name_will_do() -> None:
    Hosts(None).check(["evil.example"])
