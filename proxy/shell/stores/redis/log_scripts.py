"""The scripts of logs.

A log has two keys: its head, which says how far it has come and what state it is in, and its rows, a stream in which
the number of a row's first event, plus one, is the id. `fresh` in the head is the first number of the row in which
packing began anew the last time. Each row has that with it, so that a reader knows where to begin.
"""

from typing import Final

from proxy.shell.stores.logs import KEPT_SECONDS, LogState
from proxy.shell.stores.redis.script import LATER

HEAD: Final = f"""
local OPEN, SHUT, ENDED, GONE = {", ".join(str(state.value) for state in LogState)}
local head, rows = KEYS[1], KEYS[2]
local kept = redis.call('HMGET', head, 'next', 'bytes', 'state', 'fresh', 'until')
local is_there = kept[1]
local upto, bytes, state = tonumber(kept[1] or 0), tonumber(kept[2] or 0), tonumber(kept[3] or OPEN)
local fresh, over = tonumber(kept[4] or 0), tonumber(kept[5] or 0)
"""

CHANGES: Final = f"""
local KEPT = {{{", ".join(f"[{state.value}] = {seconds:.0f}" for state, seconds in KEPT_SECONDS.items())}}}
if not is_there and redis.call('EXISTS', rows) == 1 then redis.call('DEL', rows) end

local function keep()
  redis.call('HSET', head, 'next', upto, 'bytes', bytes, 'state', state, 'fresh', fresh, 'until', now + KEPT[state])
  redis.call('EXPIRE', head, KEPT[state] + {LATER})
  redis.call('EXPIRE', rows, KEPT[state] + {LATER})
end

local function lose()
  redis.call('DEL', rows)
  upto, bytes, state = 0, 0, GONE
end

local function put(count, weight, begins_anew, data)
  if begins_anew then fresh = upto end
  redis.call('XADD', rows, (upto + 1) .. '-0', 'f', fresh, 'w', weight, 'd', data)
  upto, bytes = upto + count, bytes + weight
end
"""

APPEND: Final = """
local first, count, weight, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local took = 0
if state == OPEN then
  if first > upto or (first == upto and bytes + weight > most) then
    lose()
  elseif first == upto and count > 0 then
    put(count, weight, ARGV[5] == '1', ARGV[6])
    took = 1
  end
  keep()
end
return {state, upto, took}
"""
"""Says what state the log is in, what number comes next, and whether the row was taken as it is."""

SHUT: Final = """
if state == OPEN then
  state = SHUT
  keep()
end
return upto - 1
"""

END: Final = """
if state == OPEN or state == SHUT then
  if tonumber(ARGV[1]) == upto then
    put(1, tonumber(ARGV[2]), true, ARGV[3])
    state = ENDED
  else
    lose()
  end
  keep()
end
"""

READ: Final = """
local wanted, share = tonumber(ARGV[1]), tonumber(ARGV[2])
if not is_there or state == GONE or over <= now then return false end
local answer = {state, upto}
if wanted >= upto then return answer end
local function first_of(row) return tonumber(string.match(row[1], '%d+')) - 1 end
local holding = redis.call('XREVRANGE', rows, (wanted + 1) .. '-0', '-', 'COUNT', 1)[1]
if not holding then return false end
local at, from = first_of(holding), tonumber(holding[2][2])
repeat
  local found = redis.call('XRANGE', rows, (from + 1) .. '-0', '+', 'COUNT', 32)
  for _, row in ipairs(found) do
    local first, fields = first_of(row), row[2]
    answer[#answer + 1] = {first, tonumber(fields[2]), fields[6]}
    from = first + 1
    if first > at then share = share - tonumber(fields[4]) end
    if share <= 0 then break end
  end
until #found < 32 or share <= 0
return answer
"""
"""Whole rows, from the one in which the packing of the wanted event began, until there is enough. Where one is missing
or the last one, the reader notices."""

DROP: Final = "redis.call('DEL', KEYS[1], KEYS[2])"
