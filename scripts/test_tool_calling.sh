#!/usr/bin/env bash
# Tool calling against a running proxy, with curl: scripts/test_tool_calling.sh
# BASE_URL (http://127.0.0.1:8080) and MODEL (demo) choose another, KEY is a tenant's; needs curl and python3, nothing else.
# The prompts suit the demo model; a real model usually does as asked, but nothing forces it to.
set -u
BASE_URL=${BASE_URL:-http://127.0.0.1:8080} MODEL=${MODEL:-demo}
curl -sS --max-time 10 -o /dev/null "$BASE_URL/healthz" || {
  echo "Nothing answers at $BASE_URL. Start the proxy with scripts/run." >&2
  exit 1
}
scratch=$(mktemp -d); trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

WEATHER='{"type": "function", "name": "get_weather", "description": "The weather in a city",
  "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}'
CLOCK='{"type": "function", "name": "get_time", "description": "The time of day in a place",
  "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}}'
NESTED='{"type": "function", "function": {"name": "get_weather",
  "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}'
CALL='{"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": "{\"city\": \"Paris\"}"}'
RESULT='{"type": "function_call_output", "call_id": "call_1", "output": "18 degrees, clear"}'

# What the checks may speak of: status, body (the JSON, or the final response of a stream), events, types, calls, text.
cat >"$scratch/check.py" <<'PYTHON'
import json, sys
status, answer, checks = int(sys.argv[1]), open(sys.argv[2], encoding="utf-8").read(), sys.argv[3:]
events = [json.loads(line[6:]) for line in answer.splitlines() if line.startswith("data: {")]
types = [event["type"] for event in events]
finals = [event["response"] for event in events if event["type"] in ("response.completed", "response.incomplete")]
body = finals[-1] if finals else {} if events else json.loads(answer)
output = body.get("output", [])
calls = [(item["name"], json.loads(item["arguments"])) for item in output if item["type"] == "function_call"]
text = "".join(part.get("text", "") for item in output if item["type"] == "message" for part in item["content"])

def sequence(*wanted):
    """Do these types occur in this order, whatever stands between them?"""
    rest = iter(types)
    return all(any(kind.endswith(want) for kind in rest) for want in wanted)

wrong = [check for check in checks if not eval(check)]
print(*wrong, sep="\n        ")
sys.exit(bool(wrong))
PYTHON

# scenario NAME FIELDS [-H HEADER] CHECK...: one request of these fields, and what must be true of its answer.
scenario() {
  local name=$1 options=(-H 'Content-Type: application/json' -d "$2"); shift 2
  while [ "${1:-}" = -H ]; do options+=(-H "$2"); shift 2; done
  request "$name" /v1/responses "$@"
}

# stored NAME METHOD ID CHECK...: reads or deletes what is kept under an id.
stored() {
  local name=$1 path=/v1/responses/$3 options=(-X "$2"); shift 3
  request "$name" "$path" "$@"
}

# request NAME PATH CHECK...: with the options of its caller.
request() {
  local name=$1 path=$2 status wrong; shift 2
  status=$(curl -sS --max-time 120 -o "$scratch/answer" -w '%{http_code}' "$BASE_URL$path" \
    ${KEY:+-H "Authorization: Bearer $KEY"} "${options[@]}" 2>"$scratch/curl") || status=000
  if [ "$status" = 000 ]; then
    wrong=$(cat "$scratch/curl")
  elif wrong=$(python3 "$scratch/check.py" "$status" "$scratch/answer" "$@" 2>&1); then
    echo "ok    $name"; passed=$((passed + 1)); return
  fi
  echo "FAIL  $name (HTTP $status)"; echo "        $wrong"; failed=$((failed + 1))
}

# ask [FIELD...]: a request's JSON, the fields in the order given.
ask() { local IFS=,; echo "{\"model\": \"$MODEL\", $*}"; }
say() { printf '"input": "%s"' "$1"; }
STREAM='"stream": true' TOOLS="\"tools\": [$WEATHER]" BOTH="\"tools\": [$WEATHER, $CLOCK]"

scenario "text" "$(ask "$(say 'Say hello')")" \
  'status == 200' 'body["status"] == "completed"' 'text' 'not calls'
scenario "text, streamed" "$(ask "$(say 'Say hello')" "$STREAM")" \
  'sequence("created", "in_progress", "item.added", "part.added", "text.delta", "text.done", "part.done", "item.done", "completed")' \
  '"response.done" not in types' '"".join(e["delta"] for e in events if e["type"].endswith("text.delta")) == text'
scenario "tool call" "$(ask "$(say 'What is the weather in Paris?')" "$TOOLS")" \
  'calls == [("get_weather", {"city": "Paris"})]'
scenario "tool call, streamed: the whole sequence" "$(ask "$(say 'What is the weather in Paris?')" "$TOOLS" "$STREAM")" \
  'sequence("created", "output_item.added", "output_tool_call.begin", "output_tool_call.delta", "function_call_arguments.delta", "output_tool_call.end", "function_call_arguments.done", "output_item.done", "completed", "done")' \
  '[e["sequence_number"] for e in events] == list(range(len(events)))' \
  '"".join(e["delta"] for e in events if e["type"].endswith("tool_call.delta")) == body["output"][-1]["arguments"]' \
  '"".join(e["delta"] for e in events if e["type"].endswith("arguments.delta")) == body["output"][-1]["arguments"]' \
  'types[-1] == "response.done"' 'calls == [("get_weather", {"city": "Paris"})]'
scenario "tool call, nested declaration" "$(ask "$(say 'Weather in Paris')" "\"tools\": [$NESTED]")" 'len(calls) == 1'
scenario "standard events only, by header" "$(ask "$(say 'Weather in Paris')" "$TOOLS" "$STREAM")" \
  -H 'x-proxy-events: standard' 'len(calls) == 1' 'not any("output_tool_call" in kind for kind in types)' \
  'types[-1] == "response.completed"'
scenario "standard events only, for the Node SDK" "$(ask "$(say 'Weather in Paris')" "$TOOLS" "$STREAM")" \
  -H 'x-stainless-lang: js' 'len(calls) == 1' 'types[-1] == "response.completed"'
scenario "tool_choice none" "$(ask "$(say 'Weather in Paris')" "$TOOLS" '"tool_choice": "none"')" 'not calls' 'text'
scenario "tool_choice required" "$(ask "$(say 'Say hello')" "$TOOLS" '"tool_choice": "required"')" 'calls'
scenario "tool_choice forced" \
  "$(ask "$(say 'Weather in Paris')" "$BOTH" '"tool_choice": {"type": "function", "name": "get_time"}')" \
  'calls and {name for name, _ in calls} == {"get_time"}'
scenario "tool_choice forced, nested" \
  "$(ask "$(say 'Weather in Paris')" "$BOTH" '"tool_choice": {"type": "function", "function": {"name": "get_time"}}')" \
  'calls and {name for name, _ in calls} == {"get_time"}'
scenario "tool_choice allowed_tools" \
  "$(ask "$(say 'Weather in Paris')" "$BOTH" \
    '"tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "get_time"}]}')" \
  'calls and {name for name, _ in calls} == {"get_time"}'
scenario "parallel calls" "$(ask "$(say 'What is the weather in Paris and London?')" "$TOOLS" "$STREAM")" \
  '[arguments["city"] for _, arguments in calls] == ["Paris", "London"]' \
  'len({item["call_id"] for item in body["output"]}) == 2' \
  '[e["output_index"] for e in events if "output_index" in e] == sorted(e["output_index"] for e in events if "output_index" in e)'
scenario "parallel calls switched off" \
  "$(ask "$(say 'What is the weather in Paris and London?')" "$TOOLS" '"parallel_tool_calls": false')" 'len(calls) == 1'
scenario "second turn with the tool's output" \
  "$(ask "\"input\": [{\"role\": \"user\", \"content\": \"Weather in Paris?\"}, $CALL, $RESULT]" "$TOOLS")" \
  'not calls' '"18" in text'
scenario "hosted tools are left out" "$(ask "$(say 'Weather in Paris')" "\"tools\": [{\"type\": \"web_search\"}, $WEATHER]")" \
  'status == 200' 'len(calls) == 1'
scenario "custom tool" "$(ask "$(say 'Use the note tool')" '"tools": [{"type": "custom", "name": "note"}]')" \
  '[item["type"] for item in body["output"]] == ["custom_tool_call"]' 'body["output"][0]["input"]'

# What is kept: the tool's output alone continues the answer that called it, by its id.
kept_scenarios() {
  scenario "stored" "$(ask "$(say 'What is the weather in Paris?')" "$TOOLS")" 'body["store"] is True' 'len(calls) == 1'
  first=$(python3 -c 'import json, sys
answer = json.load(sys.stdin)
print(answer.get("id"), *(item["call_id"] for item in answer.get("output", []) if item["type"] == "function_call"))
' <"$scratch/answer" 2>/dev/null) || first=none
  ID=${first%% *} FIRST="\"previous_response_id\": \"${first%% *}\""
  scenario "continued by its id, with the tool's output alone" \
    "$(ask "$FIRST" "$TOOLS" "\"input\": [${RESULT/call_1/${first##* }}]")" \
    'not calls' '"18" in text' "body[\"previous_response_id\"] == \"$ID\""
  stored "read again" GET "$ID" "body[\"id\"] == \"$ID\"" 'len(calls) == 1'
  stored "its input, read again" GET "$ID/input_items" '"Paris" in body["data"][0]["content"][0]["text"]'
  stored "deleted" DELETE "$ID" 'body["deleted"] is True'
  stored "deleted: not found any more" GET "$ID" 'status == 404'
  scenario "refused: continued when it is deleted" "$(ask "$FIRST" "$(say 'And now?')")" \
    'status == 400' 'body["error"]["code"] == "previous_response_not_found"'
  # Work in the background: its stream is left after the first event, and followed from there, or polled.
  BACKGROUND='"background": true, "stream": true'
  scenario "in the background, streamed: the tool call" "$(ask "$(say 'What is the weather in Paris?')" "$TOOLS" "$BACKGROUND")" \
    'sequence("created", "queued", "in_progress", "output_item.added", "function_call_arguments.done", "completed")' \
    'calls == [("get_weather", {"city": "Paris"})]'
  ID=$(grep -o -m1 'resp_[0-9a-f]*' "$scratch/answer" | head -1)
  stored "in the background: read again as it ended" GET "$ID" 'body["status"] == "completed"' 'body["background"] is True' 'len(calls) == 1'
  stored "in the background: followed from its tenth event" GET "$ID?stream=true&starting_after=9" \
    'events[0]["sequence_number"] == 10' 'types[-1] in ("response.completed", "response.done")' 'len(calls) == 1'
  stored "in the background: what has ended is not cancelled" POST "$ID/cancel" 'status == 400'
  scenario "in the background: accepted at once" "$(ask "$(say 'Say hello')" '"background": true')" \
    'body["status"] in ("queued", "in_progress")' 'not output'
}
if curl -sS --max-time 10 "$BASE_URL/readyz" | grep -q '"store"'; then
  kept_scenarios
else
  echo "LEFT OUT  all scenarios of what is kept, because this proxy keeps nothing (store.url = \"off\")"
fi

scenario "not stored, if it is not wished" "$(ask "$(say 'Say hello')" '"store": false')" 'body["store"] is False'

scenario "refused: no JSON" '{"model": ' 'status == 400' 'body["error"]["type"] == "invalid_request_error"'
scenario "refused: no input" "{\"model\": \"$MODEL\"}" 'status == 400' 'body["error"]["param"] == "input"'
scenario "refused: an output without its call" "$(ask "\"input\": [$RESULT]")" \
  'status == 400' 'body["error"]["param"] == "input"' '"call_1" in body["error"]["message"]'
scenario "refused: a tool without a name" "$(ask "$(say 'hi')" '"tools": [{"type": "function"}]')" \
  'status == 400' 'body["error"]["param"].startswith("tools[0]")'
scenario "refused: an unknown tool_choice" "$(ask "$(say 'hi')" "$TOOLS" '"tool_choice": "sometimes"')" \
  'status == 400' 'body["error"]["param"] == "tool_choice"'
scenario "still alive" "$(ask "$(say 'Say hello')")" 'status == 200' 'text'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
