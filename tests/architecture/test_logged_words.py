"""What the log may repeat: words of our own, and a fault's message only where clients are told."""

import ast

from tests.architecture.tree import EVERY

NUMBERS = {"d", "g", ","}
"""Formats that no text has: what is written by them is a number, or an error."""


def test_attack_20_own_words_are_made_of_letters_in_the_code_constants_and_numbers() -> None:
    """Whatever else stood between the brackets could be a prompt."""
    assert not {
        f"{module.name}:{node.lineno}"
        for module in EVERY
        for node in module.nodes
        if isinstance(node, ast.Call)
        and "OwnWords" in ast.unparse(node.func)
        and not (len(node.args) == 1 and not node.keywords and _is_our_own(node.args[0]))
    }


def _is_our_own(words: ast.expr) -> bool:
    match words:
        case ast.Constant() | ast.Name(id=str(_)) if isinstance(words, ast.Constant) or words.id.isupper():
            return True
        case ast.JoinedStr():
            return all(map(_is_our_own, words.values))
        case ast.FormattedValue(value=value, format_spec=ast.JoinedStr(values=[ast.Constant(value=form)])):
            return form in NUMBERS or _is_our_own(value)
        case ast.FormattedValue(value=value, format_spec=None):
            return _is_our_own(value)
    return False


TELLS_CLIENTS = {"proxy.shell.secret_mask", "proxy.shell.inspector.contents"}
"""What of the shell may read a fault's message: it is for clients, and for those who may see what they said."""


def test_attack_20_a_faults_message_is_read_by_those_who_tell_clients() -> None:
    """Whoever writes a line of the log asks `fault_facts`."""
    assert {
        module.name
        for module in EVERY
        for node in module.nodes
        if module.name.startswith("proxy.shell.")
        and isinstance(node, ast.Attribute)
        and node.attr == "message"
    } == TELLS_CLIENTS
