"""Where a backend is: the URL as people paste it, and the addresses that follow from it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from proxy.core.profile import BackendProfile

MODELS = "/models"
RESPONSES = "/responses"
"""Where the backends that have the Responses API have it."""
DEPLOYMENTS = "/openai/deployments/"
"""What stands before the name of a model in those URLs of Azure that are of one model."""

MAX_URLS = 256
"""Each backend has a few."""

POSTED = {
    "Content-Type": "application/json",
    "Accept": "text/event-stream",
    "Accept-Encoding": "identity",  # a compressed stream arrives in lumps
}

_LABEL = r"[\w\u0080-\U0010ffff-]{1,63}"
_HOST = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*\.?|\[[\da-fA-F:.]+(?:%[\w.-]+)?\])(?::\d*)?")
"""Matches a host by name, in any script, or by address."""


@dataclass(slots=True)
class Target:
    name: str
    base_url: str
    profile: BackendProfile
    key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The configuration fixes them; they may hold secrets too."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Maps the client's name of a model to the backend's."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """The fields of the profile that the operator has set by hand. They stand above all that is known otherwise."""
    forwarded: bool = False
    """Is the key the client's own? Then a refusal of it is the client's matter too (F10)."""
    head: Mapping[str, str] = field(init=False, repr=False)
    """Every request brings this: the key, the profile's headers, and the configured ones. Names are spelled in one way,
    because the latter must replace the former in whatever case they were given."""

    post_head: Mapping[str, str] = field(init=False, repr=False)
    """Every request that brings a body has these besides."""

    _by_responses: BackendProfile | None = field(init=False, default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        brought = {**_authorization(self), **self.profile.headers, **self.headers}
        self.head = {name.title(): value for name, value in brought.items()}
        self.post_head = {**POSTED, **self.head}

    @property
    def own_key(self) -> bool:
        return bool(self.key) and not self.forwarded

    @property
    def by_responses(self) -> BackendProfile:
        """The profile for requests that are asked by Responses. It is kept: to copy one takes longer than to read a
        short request."""
        if self._by_responses is None:
            self._by_responses = replace(self.profile, dialect="responses")
        return self._by_responses


def _authorization(target: Target) -> dict[str, str]:
    form = target.profile.auth
    if not target.key or form == "none":
        return {}
    return {"Authorization": f"Bearer {target.key}"} if form == "bearer" else {form: target.key}


def deployment(target: Target) -> str | None:
    """The name of the deployment that the URL is of: Azure calls a model by it, where the URL does not."""
    _, _, after = urlsplit(target.base_url).path.partition(DEPLOYMENTS)
    return unquote(after.partition("/")[0]) or None


def below(target: Target, endpoint: str) -> str:
    """Puts an endpoint below the base: the URL without a pasted endpoint; without any path, the profile's root."""
    profile = target.profile
    return _below(target.base_url, profile.path, profile.root, tuple(profile.query.items()), endpoint)


@lru_cache(MAX_URLS)
def _below(base_url: str, pasted: str, root: str, query: tuple[tuple[str, str], ...], endpoint: str) -> str:
    url = checked(base_url)
    path = url.path.rstrip("/")
    base = path.removesuffix(pasted).removesuffix(RESPONSES) if path else root
    given = parse_qsl(url.query, keep_blank_values=True)
    added = [pair for pair in query if pair[0] not in dict(given)]
    return urlunsplit((url.scheme, url.netloc, base + endpoint, urlencode([*given, *added]), ""))


def checked(url: str, example: str = "http://localhost:8000/v1") -> SplitResult:
    """Takes a server's URL apart; ValueError says what is wrong with it."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{_without_secrets(url)} is not a URL: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError(f"{_without_secrets(url)} is not a URL such as {example}")
    if "@" in parts.netloc:
        raise ValueError("must not hold a user or password; give the key by itself")
    if not (_HOST.fullmatch(parts.netloc) and parts.netloc.isprintable()):
        raise ValueError(f"{_without_secrets(url)} has no host that could be connected to")
    if parts.fragment:
        raise ValueError(f"{_without_secrets(url)} has a fragment, which no server would see")
    return parts


def _without_secrets(url: str) -> str:
    """Shows a URL in an error message without what may be a password, in the place of a user or in a query."""
    return repr(url.partition("?")[0].rpartition("@")[2])
