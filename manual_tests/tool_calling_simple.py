"""Streams one tool call from a running proxy and prints each event as it arrives. Standard library only.

    python3 manual_tests/tool_calling_simple.py ["What is the weather in Paris?"]

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
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather in a city",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "For example: Paris"}},
        "required": ["city"],
    },
}


def stream(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of one response. Each is one line that begins with `data:`; `[DONE]` ends them."""
    request = urllib.request.Request(
        f"{BASE_URL}/v1/responses",
        data=json.dumps(body | {"stream": True}).encode(),
        headers={"Content-Type": "application/json"} | ({"Authorization": f"Bearer {KEY}"} if KEY else {}),
    )
    with urllib.request.urlopen(request) as reply:
        for line in reply:
            data = line.decode().removeprefix("data:").strip()
            if line.startswith(b"data:") and data != "[DONE]":
                yield json.loads(data)


def main(prompt: str) -> None:
    calls = []
    for event in stream({"model": MODEL, "input": prompt, "tools": [WEATHER]}):
        detail = event.get("delta") or event.get("arguments") or event.get("name") or ""
        print(f"{event['sequence_number']:3}  {event['type']:45} {detail}")
        if event["type"] == "response.output_item.done" and event["item"]["type"] == "function_call":
            calls.append(event["item"])
    for call in calls:
        print(
            f"\nThe model calls {call['name']} with {json.loads(call['arguments'])} (call_id {call['call_id']})."
        )
    if not calls:
        print("\nThe model called no tool.")


if __name__ == "__main__":
    try:
        main(" ".join(sys.argv[1:]) or "What is the weather in Paris?")
    except urllib.error.HTTPError as refusal:
        sys.exit(f"HTTP {refusal.code}: {refusal.read().decode()}")
    except urllib.error.URLError as error:
        sys.exit(f"Nothing answers at {BASE_URL} ({error.reason}). Start the proxy with scripts/run.")
