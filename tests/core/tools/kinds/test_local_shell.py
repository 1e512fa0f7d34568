"""What a model says to the shell that older agents declare, as the client can run it."""

from proxy.core.tools.kinds import local_shell
from tests.support.tables import table


@table(
    ("arguments", "restored"),
    [
        ('{"command":["ls"]}', '{"command":["ls"]}'),
        ('{"command":"ls | wc","timeout_ms":5}', '{"command":["bash","-lc","ls | wc"],"timeout_ms":5}'),
        ('{"timeout_ms":5}', '{"timeout_ms":5}'),
        ("[]", "[]"),
        ("ls", "ls"),
    ],
)
def test_a_command_line_becomes_a_command(arguments: str, restored: str) -> None:
    assert local_shell.restore(arguments) == restored


def test_what_is_declared_is_what_codex_reads() -> None:
    assert local_shell.PARAMETERS["required"] == ["command"]
    assert set(local_shell.PARAMETERS["properties"]) == {"command", "working_directory", "timeout_ms"}
