"""What the log gets of a fault: its kind, place and cause, and words only if they are the proxy's own (S06).

The message for the client is not for the log. It quotes the client's request, the model's call, or the backend's
refusal, which may quote all that the client has sent.
"""

from proxy.core.errors import Fault
from proxy.core.facts import RequestFacts
from proxy.core.surfaces.openapi.known_paths import known_path
from proxy.shell.ops.fault_codes import code_label
from proxy.shell.ops.tracebacks import CausesInWords, causes, kind_of


def facts_of(fault: Fault) -> RequestFacts:
    """Returns them as fields of a line."""
    facts: RequestFacts = {"fault": type(fault).__name__}
    if fault.code:
        facts["code"] = code_label(fault)
    if fault.own_words:
        facts["error"] = fault.own_words
    if fault.param:
        facts["param"] = known_path(fault.param)
    if behind := _behind(fault):
        facts["cause"] = behind
    return facts


def without_frames(fault: Fault) -> Fault:
    """A copy of the fault for code that keeps it. Others may hold its causes too, so only words of them stay with
    it."""
    alone = fault.changed()
    behind = _behind(fault)
    alone.__cause__ = CausesInWords(behind) if behind else None
    return alone


def _behind(fault: Fault) -> str:
    _, *behind = causes(fault) if fault.__cause__ else (fault,)
    return " < ".join(map(kind_of, behind))
