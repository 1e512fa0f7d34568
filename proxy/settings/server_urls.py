"""Addresses of servers, which may hold a password: what they may be, and how they are shown."""

import re
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import SecretStr

LIVE_SCHEMES: Final = ("redis", "rediss", "valkey", "valkeys", "unix")
LIVE_OPTIONS: Final = (
    "db",
    "ssl_ca_certs",
    "ssl_certfile",
    "ssl_keyfile",
    "ssl_cert_reqs",
    "ssl_check_hostname",
)
LIVE_FORMS: Final = (
    "redis://HOST:PORT/DATABASE, rediss:// with TLS, valkey://, valkeys://, or unix:///PATH?db=DATABASE"
)
QUOTING: Final = "; in a password %23, %2F, %3A, %3F and %40 stand for #, /, :, ? and @"


class SecretUrl(SecretStr):
    """Shown without the password that may be in it."""

    def _display(self) -> str:
        url = re.sub(r"(?<=://)([^/?#]*):[^/?#]*@", r"\1:**********@", self.get_secret_value())
        return re.sub(r"(?<=[?&])((?:ssl)?password=)[^&#]*", r"\1**********", url)

    @property
    def passwords(self) -> list[str]:
        """As they stand there, and as they are meant: the log must not repeat them."""
        parts = urlsplit(self.get_secret_value())
        found = [
            parts.password,
            *(value for name, value in parse_qsl(parts.query) if name.endswith("password")),
        ]
        return [form for password in found if password for form in (password, unquote(password))]


def live_url(url: SecretUrl) -> SecretUrl:
    """Checks the address of a server of Redis or Valkey. No complaint repeats it."""
    text = url.get_secret_value().strip()
    if not text.startswith(tuple(f"{scheme}://" for scheme in LIVE_SCHEMES)):
        raise ValueError(f"must be {LIVE_FORMS}")
    try:
        parts = urlsplit(text)
        port = parts.port
        options = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError:
        raise ValueError(f"must be {LIVE_FORMS}, with a number as its port{QUOTING}") from None
    is_file = parts.scheme == "unix"
    if port == 0 or parts.fragment or not (parts.path if is_file else parts.hostname):
        raise ValueError(f"must be {LIVE_FORMS}{QUOTING}")
    database = options.get("db", "0") if is_file else parts.path.removeprefix("/") or "0"
    if not (database.isascii() and database.isdigit()):
        raise ValueError(f"must have a number as its database{QUOTING}")
    if unknown := sorted(options.keys() - set(LIVE_OPTIONS)):
        raise ValueError(f"has an unknown option ({', '.join(unknown)}): there are {', '.join(LIVE_OPTIONS)}")
    return SecretUrl(text)
