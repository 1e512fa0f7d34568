"""The HTTP request that all languages of backends have in common."""

import tracemalloc
from typing import Any

from proxy.core import jsontext
from proxy.core.backends.post import LONG, SAMPLED, post
from proxy.core.backends.target import Target
from tests.support.chat_requests import body_of, profile, user
from tests.support.tables import table

URL = "http://host:8080/v1/chat/completions"


def target(**fields: Any) -> Target:
    return Target("t", "http://host:8080", profile(**fields), key="sk-1")


def test_a_request_in_full() -> None:
    made = post(target(), URL, body_of())
    assert made.url == URL
    assert made.headers == {
        "Content-Type": "application/json",
        "Accept": "text/event-stream",
        "Accept-Encoding": "identity",
        "Authorization": "Bearer sk-1",
    }
    assert jsontext.loads(made.body) == body_of()


def test_its_body_takes_no_more_than_it_is_long() -> None:
    tracemalloc.start()
    try:
        made = post(target(), URL, {"text": "x" * 5000})
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken < 2 * len(made.body)


@table(
    ("auth", "key", "expected"),
    [
        ("bearer", "sk-1", {"Authorization": "Bearer sk-1"}),
        ("api-key", "sk-1", {"Api-Key": "sk-1"}),
        ("x-api-key", "sk-1", {"X-Api-Key": "sk-1"}),
        ("x-goog-api-key", "sk-1", {"X-Goog-Api-Key": "sk-1"}),
        ("none", "sk-1", {}),
        ("bearer", None, {}),
        ("bearer", "", {}),
    ],
)
def test_the_key_takes_the_backends_form(auth: str, key: str | None, expected: dict[str, str]) -> None:
    made = post(Target("t", "http://host", profile(auth=auth), key=key), URL, {})
    usual = {"Content-Type", "Accept", "Accept-Encoding"}
    assert {name: made.headers[name] for name in made.headers.keys() - usual} == expected


def test_fixed_headers_are_added_the_configured_ones_last() -> None:
    """In whatever case: twice the same header would be joined by some servers and refused by others."""
    configured = {"X-B": "2", "accept": "a/b", "AUTHORIZATION": "mine"}
    where = Target("t", "http://host", profile(headers={"x-a": "1", "x-b": "1"}), key="k", headers=configured)
    assert post(where, URL, {}).headers == {
        "Content-Type": "application/json",
        "Accept": "a/b",
        "Accept-Encoding": "identity",
        "Authorization": "mine",
        "X-A": "1",
        "X-B": "2",
    }


def test_no_key_and_no_content_in_tracebacks() -> None:
    assert repr(post(target(), URL, body_of(user("secret")))) == f"Post(url='{URL}')"


def test_the_same_request_is_known_again_and_no_other_is_taken_for_it() -> None:
    """V20. Of a large one what stands between its beginning and its end is looked at here and there."""

    def digest(text: str) -> bytes:
        return post(target(), URL, {"text": text}).digest()

    large, other = "x" * LONG, "y" * SAMPLED
    texts = ["a", "b", large * 4, f"{large}a", f"{large}b", f"a{large * 4}", f"{large * 4}a"]
    texts += [large * 4 + other + large * 5, large * 5 + other + large * 4]
    assert len({digest(text) for text in texts}) == len(texts)
    assert [digest(text) for text in texts] == [digest(text) for text in texts]


def test_a_request_whose_reply_has_begun_leaves_only_its_digest() -> None:
    short, long = (post(target(), URL, {"text": "x" * length}) for length in (1, LONG))
    before = [short.digest(), long.digest()]
    for each in (short, long):
        each.let_go()
    assert (short.body, long.body) == (b"", b"")
    assert [short.digest(), long.digest()] == before
    long.let_go()
    assert long.digest() == before[1]
