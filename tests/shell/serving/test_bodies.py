"""Bodies within their limits, where one is needed and where it is not."""

import pytest

from tests.support.keeping import Keeping, StartKeeping


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Content-Type": "application/json"}, 200),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 200),
        ({"Origin": "https://x.example"}, 415),
        ({"Origin": "https://x.example", "Content-Type": "text/plain"}, 415),
        ({"Origin": "https://x.example", "Content-Type": "application/json"}, 200),
    ],
)
async def test_t36_nothing_needs_no_type_except_of_a_web_page(
    keeping: Keeping, headers: dict[str, str], status: int
) -> None:
    """A browser sends an empty request to any server without asking it first."""
    assert (await keeping.ask("POST", "/conversations", b"", **headers)).status == status


@pytest.mark.parametrize(
    ("path", "body", "refusal"),
    [
        ("/conversations", b"{", (400, "invalid_json", None)),
        ("/conversations", b"[]", (400, "invalid_type", None)),
        ("/conversations/conv_1", b"", (400, None, None)),
        ("/conversations/conv_1/items", b"{", (400, "invalid_json", None)),
    ],
)
async def test_what_is_sent_must_be_an_object(
    keeping: Keeping, path: str, body: bytes, refusal: tuple[int, str | None, None]
) -> None:
    assert (await keeping.ask("POST", path, body)).refusal == refusal


async def test_something_must_have_a_type(keeping: Keeping) -> None:
    told = await keeping.ask("POST", "/conversations", b"{}", **{"Content-Type": "text/plain"})
    assert told.refusal == (415, "unsupported_media_type", None)


async def test_s16_too_much_is_refused_and_leaves_room_for_others(start_keeping: StartKeeping) -> None:
    keeping = await start_keeping(server={"body_limit_mib": 1, "memory_mib": 16})
    large = b'{"metadata": {"a": "%b"}}'
    for _ in range(20):
        told = await keeping.ask("POST", "/conversations", large % (b"x" * 900_000))
        assert told.refusal == (400, "string_above_max_length", "metadata.a")
    told = await keeping.ask("POST", "/conversations", large % (b"x" * 1_100_000))
    assert told.refusal == (413, "request_too_large", None)
