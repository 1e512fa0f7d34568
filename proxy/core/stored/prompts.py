"""The prompt of a loop, sent again in front of the outputs of its tools.

The AI SDK in a conversation and Semantic Kernel do so with each step: what has no id is sent as often as they ask. Told
behind its answer, where it would come to stand, it is a new prompt for the model, which calls its tools again.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from proxy.core.stored.answered import Answered
from proxy.core.stored.kept_items import parts_of

Json = dict[str, Any]


def sent_again(items: Sequence[Any], history: Sequence[Json], answered: Answered) -> int:
    """How many of a request's own items, from the first, are the newest messages of the history and known outputs. None
    are, unless the first output behind them is one that a call of the history waits for."""
    first = next((at for at, item in enumerate(items) if answered.awaits(item)), 0)
    prompt = [_words(item) for item in items[:first] if not answered.has(item)]
    if not prompt or None in prompt:
        return 0
    newest = islice((words for item in reversed(history) if (words := _words(item))), len(prompt))
    return first if prompt[::-1] == list(newest) else 0


def _words(item: Any) -> Any:
    """Who says what in a message to the model. None for any other item."""
    if (
        not isinstance(item, dict)
        or item.get("type", "message") != "message"
        or item.get("role") == "assistant"
    ):
        return None
    return item.get("role"), parts_of(item)
