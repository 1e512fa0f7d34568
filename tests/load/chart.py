"""The table's ratios as a picture for the README: plain SVG, readable on light and dark pages."""

from collections.abc import Mapping
from math import log10
from xml.sax.saxutils import escape

WIDTH, LABELS, PLOT = 760, 220, 470
BAR, GAP, GROUP_GAP, TOP = 16, 3, 14, 44
COLOURS = ("#8a8f98", "#2f7ed8", "#d9822b", "#6a51a3")
LEAST = 0.5
"""Where the axis begins: half of what copying costs."""
MARKS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
TITLE = "Processor time, copying = 1 (logarithmic)"


def chart(ratios: Mapping[str, Mapping[str, float]]) -> str:
    """By the load: each target's cost as a multiple of the first one's."""
    most = max(ratio for row in ratios.values() for ratio in row.values())
    end = next((mark for mark in MARKS if mark >= most), most)
    names = list(next(iter(ratios.values())))
    group = len(names) * (BAR + GAP) + GROUP_GAP
    height = TOP + len(ratios) * group + 24
    shapes = [f'<text x="0" y="16" font-weight="bold">{TITLE}</text>', *_legend(names)]
    shapes += (_mark(mark, end, height) for mark in MARKS if mark <= end)
    for row, (about, costs) in enumerate(ratios.items()):
        top = TOP + row * group
        shapes.append(_text(LABELS - 10, top + (group - GROUP_GAP) / 2 + 4, about, "end"))
        for bar, (name, ratio) in enumerate(costs.items()):
            shapes += _bar(top + bar * (BAR + GAP), _x(ratio, end), COLOURS[names.index(name)], ratio)
    drawn = "\n".join(shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="13" fill="#7d8590">\n{drawn}\n</svg>\n'
    )


def _x(ratio: float, end: float) -> float:
    return LABELS + PLOT * max(0.0, log10(ratio / LEAST)) / log10(end / LEAST)


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _legend(names: list[str]) -> list[str]:
    shapes = []
    for number, name in enumerate(names):
        x = LABELS + 120 * number
        shapes.append(f'<rect x="{x}" y="24" width="10" height="10" fill="{COLOURS[number]}"/>')
        shapes.append(_text(x + 15, 33, name))
    return shapes


def _mark(mark: float, end: float, height: float) -> str:
    x = _x(mark, end)
    line = f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{height - 20:.0f}" stroke="#7d8590" opacity="0.3"/>'
    return line + _text(x, height - 6, f"{mark:g}", "middle")


def _bar(top: float, x: float, colour: str, ratio: float) -> list[str]:
    width = max(1.0, x - LABELS)
    return [
        f'<rect x="{LABELS}" y="{top:.0f}" width="{width:.1f}" height="{BAR}" fill="{colour}"/>',
        _text(x + 5, top + BAR - 4, f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"),
    ]
