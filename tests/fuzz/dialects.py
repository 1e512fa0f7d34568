"""A backend of each dialect, and how it may refuse."""

from typing import Any

from tests.scripted import anthropic, chat, google, responses
from tests.scripted.serving import Provider

DIALECTS: dict[str, Provider] = {
    "openrouter": chat.provider(),
    "anthropic": anthropic.PROVIDER,
    "google": google.provider(),
    "responses": responses.provider(),
}


def settings_of(profile: str) -> dict[str, Any]:
    """OpenAI's profile has two languages."""
    if profile == "responses":
        return {"profile": responses.NAME, "overrides": {"wire": "responses"}}
    return {"profile": profile}


FAULTS = (*range(400, 500), *range(501, 600))
