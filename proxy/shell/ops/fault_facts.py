"""What the log is told of a fault: which kind, where, for what cause; and words only if they are our own (S06).

The message for the client is not for the log. It quotes: the client's own request, the model's call, the backend's
refusal, which may quote all that the client has sent.
"""

from typing import Any

from proxy.core.errors import Fault
from proxy.core.surfaces.openapi.known_paths import known_path
from proxy.shell.ops.fault_codes import code_label
from proxy.shell.ops.tracebacks import causes, kind_of


def facts_of(fault: Fault) -> dict[str, Any]:
    """As fields of a line."""
    _, *behind = causes(fault) if fault.__cause__ else (fault,)
    facts: dict[str, Any] = {
        "fault": type(fault).__name__,
        "code": fault.code and code_label(fault),
        "error": fault.own_words,
        "param": fault.param and known_path(fault.param),
        "cause": " < ".join(map(kind_of, behind)),
    }
    return {name: value for name, value in facts.items() if value}
