"""Which texts around a block say that it is only quoted."""

from proxy.core import jsontext
from proxy.core.markup.code import CONTEXT
from proxy.core.markup.formats import Recovered
from proxy.core.markup.quotation import MAX_BEHIND, Quotation, within
from tests.support.tables import table


def verdict(
    before: str, behind: str, *, ended: bool = False, in_json: bool = False, piece: int = 0
) -> bool | None:
    one = Quotation(before)
    for at in range(0, len(behind), piece or max(1, len(behind))):
        one.extend(behind[at : at + (piece or len(behind))])
    return one.verdict(in_json=in_json, ended=ended)


QUOTED = {
    "quotation marks": ('a "', '" b'),
    "quotation marks that are escaped": ('a \\"', '\\" b'),
    "an apostrophe each": ("a '", "' b"),
    "German ones": ("a „", "“ b"),
    "German ones of the English kind": ("a „", "” b"),
    "guillemets": ("a «", "» b"),
    "guillemets the other way": ("a »", "« b"),
    "guillemets with blanks": ("a « ", " » b"),
    "guillemets with narrow blanks": ("a «\u202f", "\u202f» b"),
    "guillemets with a blank that does not break": ("a «\u00a0", "\u00a0» b"),
    "corner brackets": ("a「", "」b"),
    "double angle brackets": ("a《", "》b"),
    "parentheses": ("a (", ") b"),
    "wide parentheses": ("a（", "）b"),
    "brackets": ("a [", "] b"),
    "emphasis": ("a *", "* b"),
    "strong emphasis": ("a **", "** b"),
    "underscores": ("a _", "_ b"),
    "strong underscores": ("a __", "__ b"),
    "a backtick that has no pair": ("don`t `", "` b"),
    "bars": ("|", "|"),
    "three quotation marks and line breaks": ('x = """\n', '\n"""'),
    "three apostrophes and an indent": ("x = '''\r\n    ", "\r\n    ''')"),
    "LaTeX's verb": ("a \\verb|", "| b"),
    "LaTeX's verb with another sign": ("a \\verb*+", "+ b"),
    "a comma": ("Write ", ", not that"),
    "a semicolon": ("Write ", "; not that"),
    "a full stop": ("Write ", "."),
    "a question mark": ("Is it ", "?"),
    "a colon": ("As in ", ":"),
    "a Chinese full stop": ("写", "。"),
    "pre": ("<pre>", "</pre>"),
    "pre with an attribute and lines": ('<pre class="x">\n', "\n</pre >"),
    "pre around more": ("<pre>\nSo:\n", "\nand so on\n</pre>"),
    "code": ("a <code>", "</code> b"),
    "code in capitals": ("a <CODE>", "</CODE> b"),
    "pre and code": ("<pre><code>\n", "\n</code></pre>"),
    "samp": ("<samp> ", " </samp>"),
    "kbd": ("<kbd>", "</kbd>"),
    "textarea": ('<textarea rows="3">', "\n</textarea>"),
    "an example": ("<example>\n", "\n</example>"),
    "a script": ('<script type="text/x">', "</script>"),
    "a citation": ("<q>", "</q>"),
    "a comment": ("<!-- like\n", "\n-->"),
    "CDATA": ("<![CDATA[", "]]>"),
    "CDATA, on lines of its own": ("<![CDATA[\n", "\n]]>"),
    "an exclamation mark": ("Never write ", "!"),
    "verbatim": ("\\begin{verbatim}\n", "\n\\end{verbatim}"),
    "lstlisting with options": ("\\begin{lstlisting}[language=XML]\n", "\n\\end{lstlisting}"),
    "minted": ("\\begin{minted}{xml}\n", "\n\\end{minted}"),
    "a here-document": ("cat <<EOF\n", "\nEOF\n"),
    "a quoted one": ("cat > x <<'END'\n", "\nEND\n"),
    "one with a dash, an indent and a file": ("cat <<-X > file\n\t", "\n\tX\n"),
    "one that the text ends with": ("cat <<EOF\n", "\nEOF"),
}

MEANT = {
    "nothing": ("", ""),
    "text": ("So: ", " and so on"),
    "a sentence before": ("I will look. ", ""),
    "a quotation that is over": ('She said "go". ', " ok so"),
    "a quotation mark before only": ('a "', " and more"),
    "a quotation mark behind only": ("a ", '" and more'),
    "another mark behind": ("a (", '" and more'),
    "a blank between": ('a " ', ' " and more'),
    "a list item": ("- ", " and more"),
    "a list item with a star": ("* ", " *"),
    "a heading": ("# Now\n", ""),
    "a finished element": ("<pre>x</pre>\n", "\n</pre> and"),
    "a finished comment": ("<!-- a -->\n", "\n-->"),
    "finished CDATA": ("<![CDATA[a]]>\n", "\n]]>"),
    "a finished environment": ("\\begin{minted}x\\end{minted}\n", "\n\\end{minted}"),
    "a finished here-document": ("cat <<EOF\nx\nEOF\n", "\nEOF\n"),
    "an element that is named as code": ("the `<pre>` element ", " and </pre> more"),
    "an element that never ends": ("the <pre> element ", "x" * MAX_BEHIND),
    "a shift": ("cout << x << 1\n", " and so on"),
    "an element of another kind": ("<p>", "</p>"),
    "a longer name": ("<prefix>", "</pre>"),
}


@table(("before", "behind"), QUOTED.values(), ids=QUOTED)
def test_this_is_a_quotation(before: str, behind: str) -> None:
    for piece in (0, 1, 3):
        assert verdict(before, behind, ended=True, piece=piece) is True


OPENING = "\"'““„„”‟‘‚‚’«»»‹››「『《〈〝〝＂＇❝❛″```´´(（[【*_|~"
CLOSING = "\"'”““”””’‘’’»«»›‹›」』》〉〞〟＂＇❞❜″`'´´`)）]】*_|~"
"""What stands at the same place in both is a pair."""


@table(("before", "behind"), list(zip(OPENING, CLOSING, strict=True)))
def test_marks_that_touch_both_ends_quote(before: str, behind: str) -> None:
    assert verdict(f"a {before}", f"{behind} b") is True
    assert verdict(f"a {before}", f" {behind} b", ended=True) is (before in "«»‹›")
    assert verdict(f"a {before} ", f"{behind} b", ended=True) is (before in "«»‹›")
    assert verdict("a ", f"{behind} b", ended=True) is False


@table(("before", "behind"), MEANT.values(), ids=MEANT)
def test_this_is_none(before: str, behind: str) -> None:
    for piece in (0, 1, 3):
        assert verdict(before, behind, ended=True, piece=piece) is False


@table(
    ("before", "behind", "known"),
    [
        ("", "", None),
        ("", "a", False),
        ("", " ", False),
        ('"', "", None),
        ('"', "\n", None),
        ('"', "a b", None),
        ('"', "a bc", False),
        ("<pre>", "abcd", None),
        ("<pre>", "x" * MAX_BEHIND, False),
        ("<pre>", " " * 65, None),
        ("cat <<EOF\n", "\nEOF", None),
    ],
)
def test_it_waits_for_no_more_than_it_needs(before: str, behind: str, known: bool | None) -> None:
    assert verdict(before, behind) is known


def test_what_ends_with_json_may_be_followed_by_punctuation() -> None:
    assert verdict("", "; ", in_json=True, ended=True) is False
    assert verdict("", "; ", in_json=False, ended=True) is True
    for mark in ",.?:":
        assert verdict("Never write ", f"{mark} so", in_json=True, ended=True) is True


def test_what_follows_the_last_of_several_blocks_counts() -> None:
    one = Quotation('"')
    one.extend("\n<a>")
    assert one.verdict(in_json=False, ended=False) is None
    one.follow()
    one.extend('"')
    assert one.verdict(in_json=False, ended=False) is True


# ── what needs nothing behind ──


def inside(before: str, *values: object, doubtful: bool = False) -> bool:
    calls = [Recovered("run", jsontext.compact({"a": value})) for value in values]
    return within(before, calls, doubtful)


@table(
    "before",
    [
        "> ",
        ">",
        "text\n> so: ",
        "   > ",
        "- > ",
        "1. > > ",
        "| ",
        "text\n| a | ",
        "\t| ",
        "+",
        "@@ -1 +1 @@\n-",
    ],
)
def test_a_block_in_a_line_of_a_quote_a_table_or_a_diff_is_quoted(before: str) -> None:
    assert inside(before)


@table(
    "before",
    ['{"note": "Write ', '{\n  "a": ["b"],\n  "note": "Write \\"x\\" or ', '["Write ', '[\n{"a": 1, "b": "'],
)
def test_a_block_in_a_string_of_json_is_quoted(before: str) -> None:
    assert inside(before)
    assert not inside(f"So: {before}")
    assert not inside(f'{before}"}}] ')
    assert not inside(f"{before}{'x' * CONTEXT}"), "where it begins is not known any more"


@table(
    "before",
    ["", "a > b: ", "> a\n", "| a |\n", "- ", "+ ", "// ", "# ", "a | b: ", "-> ", '{a "b ', '[1] "b '],
)
def test_other_lines_quote_nothing(before: str) -> None:
    assert not inside(before)


@table(
    ("before", "value", "quoted"),
    [
        ('It says "', 'x" at line 3. Then', True),
        ('It says "', "x", False),
        ('"', ["a", {"b": 'x" so'}], True),
        ('"', [1, "a", {"b": None}], False),
        ("(“", "x” so", True),
        ("`", "x` so", True),
        ("It's '", "don't", True),
        ('He said "go"', 'x"', False),
        ('He said "go."', 'x"', False),
        ("(", "f(x)", False),
        ("a", 'x"', False),
        ("", 'x"', False),
    ],
)
def test_a_mark_whose_partner_lies_in_a_value_quotes_a_part(before: str, value: object, quoted: bool) -> None:
    assert inside(before, value) is quoted


def test_a_value_that_holds_its_own_end_needs_a_line_of_its_own() -> None:
    assert inside("Write ", doubtful=True)
    assert not inside("Write\n", doubtful=True)
    assert not inside("", doubtful=True)
    assert not inside("Write ")
