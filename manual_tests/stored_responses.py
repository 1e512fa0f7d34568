"""Continues an answer by its id, reads it again, deletes it, and is refused then. Works in the background, leaves the
stream of that and resumes it. Standard library only.

    python3 manual_tests/stored_responses.py

BASE_URL (http://127.0.0.1:8080) and MODEL (demo) choose another proxy and model, KEY is a tenant's.
"""

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

BASE_URL = os.environ.get("BASE_URL", "http://127.0.0.1:8080")
MODEL = os.environ.get("MODEL", "demo")
KEY = os.environ.get("KEY")


def request(method: str, path: str, **body: Any) -> urllib.request.Request:
    return urllib.request.Request(
        f"{BASE_URL}/v1/responses{path}",
        method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"Content-Type": "application/json"} | ({"Authorization": f"Bearer {KEY}"} if KEY else {}),
    )


def call(method: str, path: str, **body: Any) -> dict[str, Any]:
    with urllib.request.urlopen(request(method, path, **body)) as reply:
        answer: dict[str, Any] = json.load(reply)
        return answer


def events(method: str, path: str, **body: Any) -> Iterator[dict[str, Any]]:
    """Who reads no further leaves the stream."""
    with urllib.request.urlopen(request(method, path, **body)) as reply:
        for line in reply:
            if line.startswith(b"data: {"):
                yield json.loads(line[6:])


def ask(text: str, previous: str | None = None) -> dict[str, Any]:
    return call("POST", "", model=MODEL, input=text, previous_response_id=previous)


def text_of(answer: dict[str, Any]) -> str:
    messages = [item for item in answer["output"] if item["type"] == "message"]
    return "".join(part.get("text", "") for message in messages for part in message["content"])


def in_the_background() -> None:
    stream = events("POST", "", model=MODEL, input="Good evening", background=True, stream=True)
    first = next(stream)
    stream.close()
    id, number = first["response"]["id"], first["sequence_number"]
    print(f"{id} works in the background; its stream was left after event {number}, {first['type']}")
    rest = list(events("GET", f"/{id}?stream=true&starting_after={number}"))
    print(f"Resumed, it has {len(rest)} more events, from {rest[0]['type']} to {rest[-1]['type']}")
    print(f"Polled, it is {call('GET', '/' + id)['status']}")


def main() -> None:
    first = ask("My name is Ann.")
    print(f"{first['id']} says: {text_of(first)}")
    if not first["store"]:
        sys.exit("This proxy keeps nothing (store.url): there is nothing to continue.")
    second = ask("What is my name?", previous=first["id"])
    print(f"{second['id']} continues it, and says: {text_of(second)}")
    print(
        f"Read again, the first one is the same: {call('GET', '/' + first['id'])['output'] == first['output']}"
    )
    print(f"Deleted: {call('DELETE', '/' + first['id'])['deleted']}")
    try:
        ask("And now?", previous=first["id"])
    except urllib.error.HTTPError as refusal:
        print(f"Continued once more: HTTP {refusal.code}, {json.load(refusal)['error']['message']}")
    third = ask("And the second one?", previous=second["id"])
    print(f"{third['id']} continues the second one, which keeps its whole history.")
    in_the_background()


if __name__ == "__main__":
    try:
        main()
    except urllib.error.HTTPError as refusal:
        sys.exit(f"HTTP {refusal.code}: {refusal.read().decode()}")
    except urllib.error.URLError as error:
        sys.exit(f"Nothing answers at {BASE_URL} ({error.reason}). Start the proxy with scripts/run.")
