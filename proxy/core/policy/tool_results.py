"""Cuts the results of tools that are longer than their tenant allows, with a notice that says so (P09).

Every request of a conversation repeats its old results. Each is cut at the same byte every time, so that the backend's
cache of the prefix holds.
"""

from dataclasses import replace

from proxy.core.ledger import Ledger
from proxy.core.model import Part, Request, Result, UserPart


def truncated(request: Request, max_bytes: int | None, ledger: Ledger) -> Request:
    """Returns the request with at most so many bytes of text in each result, without the notice. Images stay."""
    if max_bytes is None:
        return request
    turns = [(role, _cut(parts, max_bytes)) for role, parts in request.turns]
    cut = sum(
        new is not old
        for (_, parts), (_, shorter) in zip(request.turns, turns, strict=True)
        for old, new in zip(parts, shorter, strict=True)
    )
    if not cut:
        return request
    ledger.note(results_cut=cut)
    ledger.warn(f"{cut} tool result(s) were longer than {max_bytes} bytes and were cut to that length.")
    return replace(request, turns=turns)


def _cut(parts: list[Part], max_bytes: int) -> list[Part]:
    return [_cut_result(part, max_bytes) if isinstance(part, Result) else part for part in parts]


def _cut_result(result: Result, max_bytes: int) -> Result:
    texts = [_utf8(part) for part in result.content if isinstance(part, str)]
    total = sum(map(len, texts))
    if total <= max_bytes:
        return result
    left, cut = max_bytes, False
    content: list[UserPart] = []
    for part in result.content:
        if not isinstance(part, str):
            content.append(part)
        elif not cut:
            data = _utf8(part)
            if len(data) > left:
                data, cut = _beginning(data, left), True
                kept_bytes = max_bytes - left + len(data)
                notice = f"\n\n[Truncated: only the first {kept_bytes} of {total} bytes are shown.]"
                part = data.decode("utf-8", "surrogatepass") + notice
            left -= len(data)
            content.append(part)
    return replace(result, content=content)


def _utf8(text: str) -> bytes:
    """Encodes lone surrogates too, because clients may send them."""
    return text.encode("utf-8", "surrogatepass")


def _beginning(data: bytes, size: int) -> bytes:
    """Returns at most so many bytes, without a part of a character at their end."""
    while data[size] & 0xC0 == 0x80:
        size -= 1
    return data[:size]
