"""A tool server as Codex starts them: the Model Context Protocol, one JSON per line. Its one tool writes a file."""

import sys
from pathlib import Path
from typing import Any

import orjson

NOTE = {
    "name": "note",
    "description": "Writes a note into note.txt",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def initialize(wanted: dict[str, Any]) -> dict[str, Any]:
    told = {"name": "probe", "version": "1"}
    return {"protocolVersion": wanted["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": told}


def list_tools(wanted: dict[str, Any]) -> dict[str, Any]:
    return {"tools": [NOTE]}


def call_tool(wanted: dict[str, Any]) -> dict[str, Any]:
    Path("note.txt").write_text(wanted["arguments"]["text"], encoding="utf-8")
    return {"content": [{"type": "text", "text": "noted"}]}


METHODS = {"initialize": initialize, "tools/list": list_tools, "tools/call": call_tool}

for line in sys.stdin:
    asked = orjson.loads(line)
    if "id" not in asked:
        continue
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": asked["id"]}
    if method := METHODS.get(asked["method"]):
        answer["result"] = method(asked.get("params", {}))
    else:
        answer["error"] = {"code": -32601, "message": "method not found"}
    sys.stdout.write(orjson.dumps(answer).decode() + "\n")
    sys.stdout.flush()
