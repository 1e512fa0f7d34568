#!/usr/bin/env bash
# A conversation of two turns: the model calls a tool, we answer in the tool's place, the model uses the answer.
# BASE_URL (http://127.0.0.1:8080) and MODEL (demo) choose another proxy and model, KEY is a tenant's. Needs curl and python3.
set -euo pipefail
BASE_URL=${BASE_URL:-http://127.0.0.1:8080}
export MODEL=${MODEL:-demo} QUESTION=${*:-What is the weather in Paris and London?}

respond() {
  local answer
  if answer=$(curl -sS --fail-with-body "$BASE_URL/v1/responses" -H 'Content-Type: application/json' \
    ${KEY:+-H "Authorization: Bearer $KEY"} -d "$1"); then
    echo "$answer"
  else
    echo "${answer:-Nothing answers at $BASE_URL. Start the proxy with scripts/run.}" >&2
    return 1
  fi
}

# The request of each turn; the second one is made from the answer to the first, on stdin.
request() {
  python3 -c '
import json, os, sys
tool = {"type": "function", "name": "get_weather", "description": "The weather in a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
history = [{"role": "user", "content": os.environ["QUESTION"]}]
if sys.argv[1] == "second":
    output = json.load(sys.stdin)["output"]
    history += output
    for item in output:
        if item["type"] == "function_call":
            said = {"temperature": 18, "sky": "clear", **json.loads(item["arguments"])}
            history.append({"type": "function_call_output", "call_id": item["call_id"], "output": json.dumps(said)})
print(json.dumps({"model": os.environ["MODEL"], "input": history, "tools": [tool]}))' "$1"
}

show() {
  python3 -c '
import json, sys
for item in json.load(sys.stdin)["output"]:
    if item["type"] == "function_call":
        print("  calls", item["name"], item["arguments"])
    elif item["type"] == "message":
        print("  says:", "".join(part.get("text", "") for part in item["content"]))'
}

echo "We ask: $QUESTION"
echo "First turn: the model"
first=$(respond "$(request first)")
show <<<"$first"
echo "Second turn, with what the tool said: the model"
second=$(respond "$(request second <<<"$first")")
show <<<"$second"
