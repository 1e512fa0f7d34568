"""R10: what each kind of tool is to a backend, and what its calls are to the client."""

from proxy.core.model import ToolKind, ToolName, ToolSpec
from proxy.core.tools.kinds import apply_patch, custom, local_shell, shell
from proxy.core.tools.kinds.bridges import BRIDGES
from tests.support.tables import table

PARAMETERS = {"type": "object", "properties": {"query": {"type": "string"}}}


def test_there_is_a_row_for_every_kind() -> None:
    assert set(BRIDGES) == set(ToolKind)


@table(
    ("kind", "description", "parameters"),
    [
        (ToolKind.FUNCTION, "Said.", PARAMETERS),
        (ToolKind.TOOL_SEARCH, "Said.", PARAMETERS),
        (
            ToolKind.CUSTOM,
            custom.description(ToolSpec(ToolName("t"), description="Said.")),
            custom.PARAMETERS,
        ),
        (ToolKind.LOCAL_SHELL, local_shell.DESCRIPTION, local_shell.PARAMETERS),
        (ToolKind.SHELL, shell.DESCRIPTION, shell.PARAMETERS),
        (ToolKind.APPLY_PATCH, apply_patch.DESCRIPTION, apply_patch.PARAMETERS),
    ],
)
def test_the_function_that_stands_for_a_tool(kind: ToolKind, description: str, parameters: object) -> None:
    spec = ToolSpec(ToolName("t"), kind, "Said.", PARAMETERS)
    assert BRIDGES[kind].declare(spec) == (description, parameters)


@table(
    ("kind", "said", "restored"),
    [
        (ToolKind.FUNCTION, '{"a":1}', '{"a":1}'),
        (ToolKind.FUNCTION, "", "{}"),
        (ToolKind.TOOL_SEARCH, "", "{}"),
        (ToolKind.CUSTOM, '{"input":"x"}', "x"),
        (ToolKind.LOCAL_SHELL, '{"command":"ls"}', '{"command":["bash","-lc","ls"]}'),
        (ToolKind.SHELL, '{"command":"ls"}', '{"commands":["ls"]}'),
        (ToolKind.APPLY_PATCH, '{"operation":{"path":"a"}}', '{"path":"a"}'),
    ],
)
def test_a_call_is_restored_as_the_clients_tool_takes_it(kind: ToolKind, said: str, restored: str) -> None:
    assert BRIDGES[kind].from_function(said) == restored


@table("kind", ToolKind)
def test_an_earlier_call_is_told_so_that_it_would_be_restored_to_itself(kind: ToolKind) -> None:
    arguments = '{"timeout_ms":5}'
    assert BRIDGES[kind].from_function(BRIDGES[kind].to_function(arguments)) == arguments


def test_only_functions_can_be_passed_on_in_fragments_and_only_free_text_cannot_be_malformed() -> None:
    assert [kind for kind, bridge in BRIDGES.items() if bridge.streams] == [ToolKind.FUNCTION]
    assert [kind for kind, bridge in BRIDGES.items() if bridge.freeform] == [ToolKind.CUSTOM]
