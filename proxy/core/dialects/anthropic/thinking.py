"""How much the model is to think, and how much it may say: two limits that depend on each other."""

from typing import Any, NamedTuple

from proxy.core.dialects.anthropic.models import LADDER, Traits
from proxy.core.dialects.writing.notes import ALWAYS_THINKS
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.profile import BackendProfile

BUDGETS = {"low": 2048, "medium": 8192, "high": 16384, "xhigh": 32768, "max": 32768}
"""Tokens of thought, for models that count them. They are part of `max_tokens`."""

LEAST_BUDGET = 1024
"""The API refuses a smaller budget."""
ANSWER = 4096
"""Tokens that are kept for the answer, unless the client wants fewer: a budget may be used up to its last token. A
client's own limit may be far more than it expects, often all that the model has."""

Config = dict[str, Any]


class ThinkingPlan(NamedTuple):
    thinking: Config | None
    effort: str | None
    max_tokens: int

    @property
    def budgeted(self) -> bool:
        return self.thinking is not None and self.thinking["type"] == "enabled"

    @property
    def on(self) -> bool:
        return self.thinking is not None and self.thinking["type"] in ("enabled", "adaptive")


def plan(
    request: Request, profile: BackendProfile, traits: Traits, ledger: Ledger, *, unproven: bool
) -> ThinkingPlan:
    """Plans both limits. `unproven`: the calls that were just answered have lost the thoughts before them, without
    which a model that thinks by a budget refuses them."""
    limit = traits.limit(request.sampling.max_tokens or profile.length_default)
    word = _word(request, profile, traits, ledger)
    if word == "none":
        return ThinkingPlan(*_silenced(traits, ledger), limit)
    if "adaptive" in traits.thinking:
        wished = word is not None or (traits.thinks_unasked and profile.effort_field != "none")
        # Without `display` the newest return their thoughts as a signature alone.
        thinking = {"type": "adaptive", "display": "summarized"} if wished else None
        return ThinkingPlan(thinking, _rounded(word, traits.efforts), limit)
    if word is None:
        return ThinkingPlan(None, None, limit)
    if unproven:
        return ThinkingPlan({"type": "disabled"}, _rounded(word, traits.efforts), limit)
    budget = BUDGETS[_rounded(word, tuple(BUDGETS)) or "medium"]
    answer = min(limit, ANSWER)
    if request.sampling.max_tokens:
        limit = traits.limit(limit + budget)
    if limit <= LEAST_BUDGET:
        ledger.drop("reasoning_effort")
        return ThinkingPlan(None, None, limit)
    budget = max(min(budget, limit - answer), LEAST_BUDGET)
    return ThinkingPlan({"type": "enabled", "budget_tokens": budget}, _rounded(word, traits.efforts), limit)


def _word(request: Request, profile: BackendProfile, traits: Traits, ledger: Ledger) -> str | None:
    """Returns the wish, if the model can follow it."""
    wanted = request.reasoning.effort
    word = profile.effort_map.get(wanted, wanted) if wanted else None
    heeded = profile.effort_field != "none" and traits.thinking and (word in LADDER or word == "none")
    if wanted and not heeded:
        ledger.drop("reasoning_effort")
    return word if heeded else None


def _silenced(traits: Traits, ledger: Ledger) -> tuple[Config | None, str | None]:
    if not traits.thinks_unasked:
        return None, None
    for off in ("disabled", "between_tools"):
        if off in traits.thinking:
            return {"type": off}, None
    ledger.drop("reasoning_effort")
    ledger.warn(ALWAYS_THINKS)
    return None, "low"


def _rounded(word: str | None, accepted: tuple[str, ...]) -> str | None:
    """Rounds down to what is accepted, and up only from below the lowest."""
    if word is None or not accepted:
        return None
    upto = LADDER[: LADDER.index(word) + 1]
    return next((each for each in reversed(upto) if each in accepted), accepted[0])
