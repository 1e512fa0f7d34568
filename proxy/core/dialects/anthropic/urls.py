"""Where the Messages API is: below a version, which people leave out of the URLs that they paste."""

import re
from dataclasses import replace
from urllib.parse import urlunsplit

from proxy.core.backends import target
from proxy.core.backends.target import Target

PAGE = "limit=1000"
"""Asks for the longest page of models; the usual one would hide all but twenty."""

_VERSIONED = re.compile(r".*/v\d\w*")


def reply_url(where: Target, model: str) -> str:
    """Gives the one address for all models."""
    return target.below(_versioned(where), where.profile.path)


def count_url(where: Target, model: str) -> str:
    return target.below(_versioned(where), f"{where.profile.path}/count_tokens")


def models_url(where: Target) -> str:
    url = target.below(_versioned(where), target.MODELS)
    return f"{url}{'&' if '?' in url else '?'}{PAGE}"


def _versioned(where: Target) -> Target:
    """Adds the version that the URL should have: `https://host/anthropic` means `https://host/anthropic/v1`."""
    url = target.checked(where.base_url)
    path = url.path.rstrip("/").removesuffix(where.profile.path)
    if not path or _VERSIONED.fullmatch(path):
        return where
    return replace(where, base_url=urlunsplit(url._replace(path=path + where.profile.root)))
