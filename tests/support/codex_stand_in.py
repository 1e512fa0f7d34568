"""What Codex does with a provider it is given on the command line, in one page: reads the catalog, and asks once.

It prints what it was told and what it got. `fail` makes it exit with 3, `wait` makes it stay until it is stopped.
"""

import os
import signal
import sys
import tomllib
import urllib.request
from typing import Any

import orjson


def read_overrides(words: list[str]) -> dict[str, Any]:
    """Takes the leading `-c key=value` out of the words."""
    told: dict[str, Any] = {}
    while words[:1] == ["-c"]:
        key, _, value = words[1].partition("=")
        *path, last = key.split(".")
        table = told
        for step in path:
            table = table.setdefault(step, {})
        table[last] = tomllib.loads(f"value = {value}")["value"]
        del words[:2]
    return told


def ask(url: str, body: Any = None) -> Any:
    headers = {"Content-Type": "application/json", "originator": "codex_exec"}
    data = None if body is None else orjson.dumps(body)
    with urllib.request.urlopen(urllib.request.Request(url, data=data, headers=headers)) as response:
        return orjson.loads(response.read())


def main() -> int:
    words = sys.argv[1:]
    told = read_overrides(words)
    provider = told["model_providers"][told["model_provider"]]
    catalog = ask(provider["model_catalog_url"])
    answer = ask(f"{provider['base_url']}/responses", {"model": told.get("model", "own"), "input": "Hi"})
    seen = {
        "told": told,
        "words": words,
        "no_proxy": os.environ["NO_PROXY"],
        "input": sys.stdin.read(),
        "models": [model["slug"] for model in catalog["models"]],
        "said": answer["output"][0]["content"][0]["text"],
    }
    sys.stdout.buffer.write(orjson.dumps(seen) + b"\n")
    sys.stdout.flush()
    if words == ["wait"]:
        signal.pause()
    return 3 if words == ["fail"] else 0


sys.exit(main())
