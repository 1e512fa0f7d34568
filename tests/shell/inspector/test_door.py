"""Who may see the inspector's data (S30, S31)."""

import pytest

from proxy.core.errors import Fault
from proxy.core.tenants import EVERYBODY, Tenant, Tenants, digest
from proxy.shell.inspector.door import Door
from tests.support.tables import table

KEYS = Tenants({digest("secret-key"): Tenant("inspector")})
HOST = "127.0.0.1:8080"


@table(
    "readers, headers, address",
    [
        (EVERYBODY, {}, "127.0.0.1"),
        (EVERYBODY, {}, "::1"),
        (EVERYBODY, {}, "::ffff:127.0.0.1"),
        (EVERYBODY, {"Sec-Fetch-Site": "same-origin", "Origin": f"http://{HOST}"}, "127.0.0.1"),
        (EVERYBODY, {"Sec-Fetch-Site": "none"}, "127.0.0.1"),
        (KEYS, {"authorization": "Bearer secret-key"}, "10.0.0.7"),
        (KEYS, {"authorization": "Bearer secret-key", "X-Forwarded-For": "10.0.0.7"}, "127.0.0.1"),
    ],
)
def test_who_is_let_in(readers: Tenants, headers: dict[str, str], address: str) -> None:
    Door(readers).check(headers, HOST, address)


@table(
    "readers, headers, address, status, code",
    [
        (None, {}, "127.0.0.1", 403, "permission_denied"),
        (None, {"authorization": "Bearer secret-key"}, "127.0.0.1", 403, "permission_denied"),
        (EVERYBODY, {}, "10.0.0.7", 403, "permission_denied"),
        (EVERYBODY, {}, "", 403, "permission_denied"),
        (EVERYBODY, {"X-Forwarded-For": "10.0.0.7"}, "127.0.0.1", 403, "permission_denied"),
        (EVERYBODY, {"Forwarded": "for=10.0.0.7"}, "127.0.0.1", 403, "permission_denied"),
        (EVERYBODY, {"Via": "1.1 nginx"}, "127.0.0.1", 403, "permission_denied"),
        (EVERYBODY, {"Origin": "http://evil.test"}, "127.0.0.1", 403, "origin_not_allowed"),
        (EVERYBODY, {"Origin": "null"}, "127.0.0.1", 403, "origin_not_allowed"),
        (EVERYBODY, {"Origin": "http://[oops"}, "127.0.0.1", 403, "origin_not_allowed"),
        (EVERYBODY, {"Sec-Fetch-Site": "cross-site"}, "127.0.0.1", 403, "origin_not_allowed"),
        (EVERYBODY, {"Sec-Fetch-Site": "same-site"}, "127.0.0.1", 403, "origin_not_allowed"),
        (KEYS, {"authorization": "Bearer secret-key", "Origin": "http://evil.test"}, "::1", 403, "origin_not_allowed"),
        (KEYS, {}, "127.0.0.1", 401, "invalid_api_key"),
        (KEYS, {"authorization": "Bearer wrong"}, "127.0.0.1", 401, "invalid_api_key"),
    ],
)  # fmt: skip
def test_who_is_not(
    readers: Tenants | None, headers: dict[str, str], address: str, status: int, code: str
) -> None:
    with pytest.raises(Fault) as refused:
        Door(readers).check(headers, HOST, address)
    assert (refused.value.status, refused.value.code) == (status, code)
