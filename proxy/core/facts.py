"""The facts of one request, as its line in the log has them; some of them become metrics.

Whoever learns a fact notes it in the request's ledger. Facts are names, numbers and ids of our own, never content.
"""

from typing import TypedDict


class RequestFacts(TypedDict, total=False):
    """Only what is known: a refused request has no backend, and a cut one no ending."""

    tenant: str
    status: int
    client: str
    model: str
    stream: bool
    background: bool
    response_id: str
    continues: str
    """The response that the request continues."""
    conversation: str
    stored: bool
    """The store has it: it can be read by its id."""

    over_limits: int
    strict_in_parallel: int
    tools_not_allowed: int
    results_cut: int

    backend: str
    backend_model: str
    profile: str
    attempts: int

    ms_first_byte: float
    ms_first_text: float
    ms_total: float
    bytes_out: int

    ending: str
    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    reasoning_tokens: int

    fault: str
    code: str
    error: str
    param: str
    cause: str
