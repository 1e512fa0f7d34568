"""Who asks, and how far their limits go (P06; S01, S02, S04 for keys)."""

import pytest
from multidict import CIMultiDict

from proxy.core.errors import Unauthorized
from proxy.core.tenants import (
    ANYBODY,
    EVERYBODY,
    LARGEST,
    Mode,
    Tenant,
    Tenants,
    ToolLimits,
    Validation,
    digest,
    neighbourhood,
)  # fmt: skip
from tests.support.tables import table

ACME = Tenant("acme")
TENANTS = Tenants({digest("key of acme").upper(): ACME})


def test_without_tenants_nobody_has_to_say_who_they_are() -> None:
    assert Tenants({}).of({"Authorization": "Bearer whatever"}) is ANYBODY
    assert Tenants({}, anybody=ACME).of({}) is ACME


def test_s04_where_there_are_tenants_nobody_is_anybody() -> None:
    with pytest.raises(Unauthorized):
        Tenants({digest("key of acme"): ACME}, anybody=ANYBODY).of({})


@table(
    "headers",
    [
        {"Authorization": "Bearer key of acme"},
        {"AUTHORIZATION": "bearer   key of acme "},
        {"X-Api-Key": "key of acme"},
        {"api-key": " key of acme"},
        {"authorization": "Basic abc", "x-api-key": "key of acme"},
    ],
)
def test_a_key_is_found_wherever_clients_put_it(headers: dict[str, str]) -> None:
    assert TENANTS.of(CIMultiDict(headers)) is ACME


@table(
    "headers",
    [
        {},
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": "Bearer "},
        {"authorization": "key of acme"},
        {"authorization": "Bearer wrong-secret"},
        {"authorization": "Bearer wrong-secret", "x-api-key": "key of acme"},
        {"x-api-key": "wrong-secret \udce9 é"},
        {"authorization": f"Bearer {digest('key of acme')}"},
    ],
)
def test_s01_whatever_is_wrong_with_a_key_the_answer_is_the_same(headers: dict[str, str]) -> None:
    with pytest.raises(Unauthorized) as refusal:
        TENANTS.of(CIMultiDict(headers))
    assert refusal.value.status == 401
    assert refusal.value.message == (
        "No valid API key was sent. Send yours in the header 'Authorization: Bearer <key>' or 'x-api-key: <key>'."
    )


def test_s02_a_digest_is_the_sha256_of_the_key() -> None:
    assert digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_p05_p09_what_a_tenant_has_not_set_is_not_done() -> None:
    tenant = Tenant("t")
    assert tenant.validate_tool_arguments is Validation.STRICT
    assert tenant.tool_result_max_bytes is None


@table("limit", list(LARGEST))
def test_p06_a_tenant_may_have_limits_up_to_the_largest(limit: str) -> None:
    assert getattr(ToolLimits(**{limit: LARGEST[limit]}), limit) == LARGEST[limit]
    for value in (LARGEST[limit] + 1, -1):
        with pytest.raises(
            ValueError, match=rf"^{limit} must be between 0 and {LARGEST[limit]}, not {value}$"
        ):
            ToolLimits(**{limit: value})


def test_p06_the_default_limits_are_those_that_were_promised() -> None:
    """V42: the length of a name is none of them; it is the form of a name, in every mode."""
    assert ToolLimits() == ToolLimits(
        tools=128,
        description_characters=1024,
        schema_depth=5,
        argument_bytes=64 * 1024,
        calls=20,
    )
    assert LARGEST == {
        "tools": 128,
        "description_characters": 4096,
        "schema_depth": 10,
        "argument_bytes": 256 * 1024,
        "calls": 50,
    }


@table(
    ("own", "strict", "expected"),
    [
        (None, True, Mode.ENFORCE),
        (None, False, Mode.WARN),
        (Mode.OFF, True, Mode.OFF),
        (Mode.ENFORCE, False, Mode.ENFORCE),
    ],
)
def test_p06_the_surface_decides_unless_the_tenant_has(
    own: Mode | None, strict: bool, expected: Mode
) -> None:
    assert Tenant("t", limits_mode=own).mode(strict=strict) is expected


# ── owners ──


@table(
    ("address", "expected"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("", ""),
        ("/run/socket", "/run/socket"),
    ],
)
def test_attack_17_an_ipv6_network_is_one_customers(address: str, expected: str) -> None:
    assert neighbourhood(address) == expected


def test_attack_17_shares_are_tenants_or_where_there_are_none_addresses() -> None:
    assert Tenants({digest("k"): Tenant("ann")}).owner(Tenant("ann"), "203.0.113.7") == "ann"
    assert EVERYBODY.owner(ANYBODY, "203.0.113.7") == "203.0.113.7"


def test_each_tenant_is_listed_once() -> None:
    ann, bob = Tenant("ann"), Tenant("bob")
    assert Tenants({digest("a"): ann, digest("b"): bob, digest("c"): ann}).all == [ann, bob]
    assert EVERYBODY.all == [ANYBODY]
