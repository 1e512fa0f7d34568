"""What single settings may hold: each kind of value with its check, whose complaint follows the setting's key."""

import re
from typing import Annotated, Any
from urllib.parse import SplitResult, parse_qsl

from pydantic import AfterValidator, Field, SecretStr

from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.routes import ANY_ENDING
from proxy.core.backends.target import checked
from proxy.core.dialects.registry import DIALECTS
from proxy.core.markup import registry
from proxy.core.profile import DEFAULT, overridden
from proxy.settings.server_urls import SecretUrl, live_url

AUTO = "auto"
COLLECTOR = "http://localhost:4318/v1/traces"

BYTES_PER_MIB = 1 << 20

SECRET_WORDS = frozenset({"auth", "code", "jwt", "pass", "pwd", "sas", "sig", "signature"})
SECRET_ENDINGS = ("key", "token", "secret", "password", "credential", "credentials", "authorization")
"""Words that a name in a URL's query is, or ends with, if its value is a key."""

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_RANDOM = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]*+\d)(?=\d*+[A-Za-z])[A-Za-z0-9]{20,}+")
"""Matches a random key: no version and no name of a deployment is so long without a dash or a dot."""

INSTEAD_OF_A_VARIABLE = "put the key itself, or leave it out and set PROXY_BACKEND_KEY and the like"

LEAST_SECRET = 16
"""The least characters of a secret: so many cannot be guessed."""


_STORE_URL = re.compile(r"auto|off|memory:|sqlite:.+|postgres(ql)?://.+")


def _store_url(url: SecretUrl) -> SecretUrl:
    if not _STORE_URL.fullmatch(url.get_secret_value()):
        raise ValueError("must be auto, sqlite:DIRECTORY, postgresql://..., memory: or off")
    return url


def _backend_url(url: str) -> str:
    return _without_secrets(url, checked(url), "as key, or in headers")


def _collector_url(url: str) -> str:
    return _without_secrets(url, checked(url, COLLECTOR), "in otel.headers")


def _without_secrets(url: str, parts: SplitResult, elsewhere: str) -> str:
    for name, value in parse_qsl(parts.query):
        if _names_a_secret(name) or _RANDOM.search(value):
            raise ValueError(
                f"must not hold a secret ({name.lower()}), which would be shown; give it {elsewhere}"
            )
    return url.strip()


def _names_a_secret(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    return any(word in SECRET_WORDS or word.endswith(SECRET_ENDINGS) for word in words)


def _backend_name(name: str) -> str:
    """Checks a name that stands in a header, and before the `/` of a fallback."""
    if not re.fullmatch(r"[A-Za-z0-9._-]+", name):
        raise ValueError("must be made of letters, digits, dots, dashes and underscores")
    return name


def _profile_name(name: str) -> str:
    if name != AUTO and name not in PROFILES:
        raise ValueError(f"must be {AUTO} or one of {', '.join(sorted(PROFILES))}")
    return name


def _header_value(value: SecretStr) -> SecretStr:
    """Removes the line end that keys from files often have. Any other unprintable character would break the request."""
    text = value.get_secret_value().strip()
    if not (text.isascii() and text.isprintable()):
        raise ValueError("must be plain ASCII text without control characters")
    return SecretStr(text)


def _spelled_out(value: SecretStr) -> SecretStr:
    """Operators know other programs that look variables up. `${NAME}` would be the key, and one that can be guessed."""
    if re.fullmatch(r"\$\{?[A-Za-z_]\w*\}?", value.get_secret_value()):
        raise ValueError(f"is the name of a variable, which is not looked up here: {INSTEAD_OF_A_VARIABLE}")
    return value


def _header_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name):
        raise ValueError("must be a header's name, without spaces")
    return name


def _long_secret(secret: SecretStr) -> SecretStr:
    if len(secret) < LEAST_SECRET:
        raise ValueError(f"must have at least {LEAST_SECRET} characters")
    return _spelled_out(secret)


def _host_name(name: str) -> str:
    """Returns the name as in a `Host` header, where an address of version 6 is in brackets."""
    if not re.fullmatch(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+", name):
        raise ValueError("must be a name or an address, without scheme, port and brackets")
    return name


def _digest(text: str) -> str:
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise ValueError("must be a digest as `responses-proxy hash-key` prints it, never the key itself")
    return text


def _model_pattern(text: str) -> str:
    if not text or ANY_ENDING in text.removesuffix(ANY_ENDING):
        raise ValueError(f"must be a model's name, or how names begin and {ANY_ENDING!r} at the end")
    return text


def _profile_fields(overrides: dict[str, Any]) -> dict[str, Any]:
    if "headers" in overrides:
        raise ValueError("headers belong in backend.headers, where they are kept secret")
    profile = overridden(DEFAULT, overrides)
    if profile.dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(sorted(DIALECTS))}")
    registry.check(profile.markup_formats | profile.markup_without)
    return overrides


def _prefix(text: str) -> str:
    """Checks what stands before keys, and in patterns for them."""
    if not re.fullmatch(r"[A-Za-z0-9._:-]+", text):
        raise ValueError("must be made of letters, digits, dots, colons, dashes and underscores")
    return text


Seconds = Annotated[float, Field(gt=0)]
BackendUrl = Annotated[str, AfterValidator(_backend_url)]
CollectorUrl = Annotated[str, AfterValidator(_collector_url)]
BackendName = Annotated[str, AfterValidator(_backend_name)]
ProfileName = Annotated[str, AfterValidator(_profile_name)]
ProfileFields = Annotated[dict[str, Any], AfterValidator(_profile_fields)]
HeaderName = Annotated[str, AfterValidator(_header_name)]
HeaderValue = Annotated[SecretStr, AfterValidator(_header_value)]
BackendKey = Annotated[HeaderValue, AfterValidator(_spelled_out)]
StoreUrl = Annotated[SecretUrl, AfterValidator(_store_url)]
LiveUrl = Annotated[SecretUrl, AfterValidator(live_url)]
KeyPrefix = Annotated[str, AfterValidator(_prefix)]

SigningKey = Annotated[SecretStr, AfterValidator(_long_secret)]
StoreKey = Annotated[SecretStr, AfterValidator(_long_secret)]
ModelPattern = Annotated[str, AfterValidator(_model_pattern)]
HostName = Annotated[str, AfterValidator(_host_name)]
Digest = Annotated[str, AfterValidator(_digest)]
