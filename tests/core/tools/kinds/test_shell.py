"""What a model says to the shell that agents declare by its type, as the client can run it."""

from proxy.core.tools.kinds import shell
from tests.support.tables import table


@table(
    ("arguments", "restored"),
    [
        ('{"commands":["ls","pwd"],"timeout_ms":5}', '{"commands":["ls","pwd"],"timeout_ms":5}'),
        ('{"commands":"ls | wc"}', '{"commands":["ls | wc"]}'),
        ('{"command":"ls | wc","timeout_ms":5}', '{"timeout_ms":5,"commands":["ls | wc"]}'),
        ('{"command":["bash","-lc","ls | wc",1]}', """{"commands":["bash -lc 'ls | wc' 1"]}"""),
        ('{"commands":["ls"],"command":"pwd"}', '{"commands":["ls"],"command":"pwd"}'),
        ('{"timeout_ms":5}', '{"timeout_ms":5}'),
        ("[]", "[]"),
        ("ls", "ls"),
    ],
)
def test_whatever_a_model_calls_a_command_becomes_command_lines(arguments: str, restored: str) -> None:
    assert shell.restore(arguments) == restored
