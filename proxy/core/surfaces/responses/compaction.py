"""A conversation made shorter: the backend sums it up, and an opaque item with the summary takes its place.

Clients ask for it by an item at the end of the input, or by an endpoint of its own. When the item comes back as input,
the model reads the summary.
"""

from typing import Any

from proxy.core.errors import BackendFault, ClientFault
from proxy.core.events import Ending, ReplyEnded
from proxy.core.model import Usage
from proxy.core.surfaces.responses.response import ResponseObject, usage_member

TRIGGER = {"type": "compaction_trigger"}

INSTRUCTION = """\
The conversation so far will be removed to make room, and only your answer to this message will be left of it. \
Write down what is needed to go on without it: what the user wants, word for word where it matters; what has been \
decided and done, and what came of it; files, commands, names and values that will be needed; what is left to do, \
and the next step. Answer with this summary and nothing else. Do not call any tools."""

SUMMED_UP = "The conversation before this was removed to make room. This is the summary of it:"


def requested(body: Any) -> Any:
    """The request for a reply that does what a request for a compaction asks. Its errors are found when it is read."""
    if not isinstance(body, dict):
        return body
    given = body.get("input")
    if given is None and body.get("previous_response_id") is not None:
        given = []
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    return body | {"stream": False, "input": [*given, TRIGGER] if isinstance(given, list) else given}


class CompactionObject(ResponseObject):
    """The answer of the endpoint."""

    def finished(self, ended: ReplyEnded) -> dict[str, Any]:
        """Raises a fault unless the summary is whole: the client will replace its history by it."""
        limit = self._own.get("max_output_tokens")
        if ended.ending is Ending.MAX_TOKENS and limit is not None:
            raise ClientFault(
                f"max_output_tokens of {limit} leaves no room for a summary of the conversation: "
                "raise it, or leave it out.",
                param="max_output_tokens",
                code="invalid_value",
            )
        if ended.ending is not Ending.COMPLETED:
            raise BackendFault(
                "The backend did not finish its summary of the conversation.",
                code="upstream_incomplete",
                retryable=False,
            )
        whole = super().finished(ended)
        return {
            "id": whole["id"],
            "object": "response.compaction",
            "created_at": whole["created_at"],
            "output": whole["output"],
            "usage": whole["usage"] or usage_member(Usage(0, 0, 0)),
        }
