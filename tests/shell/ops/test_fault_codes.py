"""S29: each code of ours has a name in the metrics, and no other has."""

import re
from pathlib import Path

import proxy
from proxy.core.errors import BackendFault, Fault
from proxy.core.policy import guard
from proxy.shell.ops.fault_codes import CODES, OTHER, code_label

SOURCES = Path(proxy.__file__).parent
CODE = re.compile(r'code(?:: str \| None|: str)? ?= ?"([a-z_]+)"')


def test_every_code_of_ours_is_known() -> None:
    def kinds(fault: type[Fault]) -> list[type[Fault]]:
        return [fault, *(inner for kind in fault.__subclasses__() for inner in kinds(kind))]

    spelled = {
        code for path in SOURCES.rglob("*.py") for code in CODE.findall(path.read_text(encoding="utf-8"))
    }
    own = {kind.code for kind in kinds(Fault)} - {None}
    assert (spelled | own | guard.ADVICE.keys()) - {"demo_error"} <= CODES


def test_a_word_of_a_backend_is_no_label() -> None:
    assert code_label(BackendFault("Bad.", code="their_word")) == OTHER
    assert code_label(BackendFault("Bad.", code="server_error")) == "server_error"
