"""The scripts of meters and queues.

A tenant's meters are one hash: of each unit, when it was or will be full, and when that was said. A queue has three
keys: its tickets in order, whose each ticket is, and by when each worker must be heard of again.
"""

from typing import Final

from proxy.shell.stores.redis.script import LATER
from proxy.shell.stores.terms import LEASE_SECONDS, SKEW_SECONDS

TAKE: Final = f"""
local lacks, held, refused, longest = {{}}, {{}}, false, redis.call('TTL', KEYS[1]) - {LATER}
for n = 1, #ARGV, 3 do
  local full_at, seen = string.match(redis.call('HGET', KEYS[1], ARGV[n]) or '', '(%S+) (%S+)')
  full_at, seen = tonumber(full_at or now), tonumber(seen or now)
  local lack = math.max(full_at - math.max(now, seen), 0)
  refused = refused or (ARGV[n + 2] ~= '' and lack > tonumber(ARGV[n + 2]))
  lacks[#lacks + 1] = lack
  held[#held + 1] = now < seen and seen < now + {SKEW_SECONDS} and seen or now
end
for n, lack in ipairs(lacks) do
  if not refused then lack = lack + tonumber(ARGV[3 * n - 1]) end
  redis.call('HSET', KEYS[1], ARGV[3 * n - 2], string.format('%.17g %.17g', held[n] + lack, held[n]))
  longest = math.max(longest, math.ceil(lack))
  lacks[n] = string.format('%.17g', math.max(lack, 0))
end
redis.call('EXPIRE', KEYS[1], longest + {LATER})
return {{refused and 1 or 0, lacks}}
"""
"""Of each unit: what is taken of it, and what may be missing at most for that, as seconds, or nothing if it is taken in
any case. Says whether it was refused, and what is missing then."""

NAMES: Final = f"""
if #ARGV > 0 then redis.call('SADD', KEYS[1], unpack(ARGV)) end
redis.call('EXPIRE', KEYS[1], {LEASE_SECONDS:.0f} + {LATER})
return redis.call('SMEMBERS', KEYS[1])
"""
"""Adds names, and says all. They are kept as long as somebody adds some, or asks."""

QUEUE: Final = f"""
local order, holders, workers = KEYS[1], KEYS[2], KEYS[3]

local function pairs_of(key)
  local found, all = {{}}, redis.call('HGETALL', key)
  for n = 1, #all, 2 do found[all[n]] = all[n + 1] end
  return found
end

local function living()
  local lives = pairs_of(workers)
  for worker, over in pairs(lives) do
    local left = tonumber(over) - now
    lives[worker] = left > 0 and left <= {LEASE_SECONDS + SKEW_SECONDS}
  end
  return lives
end
"""

ENTER: Final = f"""
redis.call('HSET', workers, ARGV[1], string.format('%.17g', now + {LEASE_SECONDS}))
for n = 2, #ARGV do
  if not (redis.call('ZSCORE', order, ARGV[n]) and redis.call('HEXISTS', holders, ARGV[n]) == 1) then
    local last = redis.call('ZREVRANGE', order, 0, 0, 'WITHSCORES')[2]
    redis.call('ZADD', order, (last or 0) + 1, ARGV[n])
    redis.call('HSET', holders, ARGV[n], ARGV[1])
  end
end
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, {LEASE_SECONDS:.0f} + {LATER}) end
"""

RANKS: Final = """
local lives, whose, ranks, rank = living(), pairs_of(holders), {}, 0
for _, ticket in ipairs(redis.call('ZRANGE', order, 0, -1)) do
  local worker = whose[ticket]
  if worker and lives[worker] then
    if worker == ARGV[1] then
      ranks[#ranks + 1] = ticket
      ranks[#ranks + 1] = rank
    end
    rank = rank + 1
  end
end
return ranks
"""

LEAVE: Final = """
redis.call('ZREM', KEYS[1], unpack(ARGV))
redis.call('HDEL', KEYS[2], unpack(ARGV))
"""

BURY: Final = """
local lives, whose, most, buried = living(), pairs_of(holders), tonumber(ARGV[1]), 0
for _, ticket in ipairs(redis.call('ZRANGE', order, 0, -1)) do
  if buried >= most then return buried end
  if not (whose[ticket] and lives[whose[ticket]]) then
    redis.call('ZREM', order, ticket)
    redis.call('HDEL', holders, ticket)
    buried = buried + 1
  end
end
for worker, is_living in pairs(lives) do
  if not is_living then redis.call('HDEL', workers, worker) end
end
return buried
"""
"""Takes away so many tickets of the dead at most, and says how many."""
