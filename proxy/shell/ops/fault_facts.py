"""What the log gets of a fault: its kind, place and cause, and words only if they are the proxy's own (S06).

The message for the client is not for the log. It quotes the client's request, the model's call, or the backend's
refusal, which may quote all that the client has sent.
"""

from proxy.core.errors import Fault
from proxy.core.facts import RequestFacts
from proxy.core.surfaces.openapi.known_paths import known_path
from proxy.shell.ops.fault_codes import code_label
from proxy.shell.ops.tracebacks import causes, kind_of


def facts_of(fault: Fault) -> RequestFacts:
    """Returns them as fields of a line."""
    _, *behind = causes(fault) if fault.__cause__ else (fault,)
    facts: RequestFacts = {"fault": type(fault).__name__}
    if fault.code:
        facts["code"] = code_label(fault)
    if fault.own_words:
        facts["error"] = fault.own_words
    if fault.param:
        facts["param"] = known_path(fault.param)
    if behind:
        facts["cause"] = " < ".join(map(kind_of, behind))
    return facts
