"""What a model says to the editor that agents declare by its type, as the client can apply it."""

from proxy.core import jsontext
from proxy.core.tools.kinds import apply_patch
from tests.support.tables import table

CREATE = {"type": "create_file", "path": "a"}


@table(
    ("said", "restored"),
    [
        (CREATE | {"diff": "+a\n+b\n"}, CREATE | {"diff": "+a\n+b\n"}),
        (CREATE | {"diff": "a\n\n b"}, CREATE | {"diff": "+a\n+\n+ b"}),
        (CREATE | {"diff": "a\n+b"}, CREATE | {"diff": "a\n+b"}),
        (CREATE, CREATE),
        ({"operation": CREATE | {"diff": "a"}}, CREATE | {"diff": "+a"}),
        ({"operation": {"type": "delete_file", "path": "a"}}, {"type": "delete_file", "path": "a"}),
        ({"type": "update_file", "diff": "@@\n-a"}, {"type": "update_file", "diff": "@@\n-a"}),
        ({"operation": "create"}, {"operation": "create"}),
        ([], []),
    ],
)
def test_an_operation_is_unwrapped_and_a_new_file_gets_its_pluses(said: object, restored: object) -> None:
    assert jsontext.loads(apply_patch.restore(jsontext.compact(said))) == restored


def test_what_is_no_json_stays_as_it_is() -> None:
    assert apply_patch.restore("*** Begin Patch") == "*** Begin Patch"
