"""A backend of each dialect, and how it may refuse."""

from tests.scripted import anthropic, chat, google
from tests.scripted.serving import Provider

DIALECTS: dict[str, Provider] = {
    "openrouter": chat.provider(),
    "anthropic": anthropic.PROVIDER,
    "google": google.provider(),
}
FAULTS = (*range(400, 500), *range(501, 600))
