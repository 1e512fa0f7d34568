"""The scripts of memos.

A tenant's memos are one hash, in which each value begins with the time at which it is over. Beside it are their names
in the order of these times, and how many bytes they have together: beyond a bound the oldest go, so that no tenant
fills the memory of a server that all share.
"""

from typing import Final

from proxy.shell.stores.redis.script import LATER

AT_ONCE: Final = 50

REMEMBER: Final = f"""
local memos, order, size = KEYS[1], KEYS[2], KEYS[3]
local over, most, total = now + tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(redis.call('GET', size) or 0)
if redis.call('EXISTS', memos) == 0 then total = 0 end
redis.call('SET', size, total) -- first what needs memory: while there is none, nothing is done
if total == 0 then redis.call('DEL', order) end

local function forget(name)
  total = total - redis.call('HSTRLEN', memos, name)
  redis.call('HDEL', memos, name)
  redis.call('ZREM', order, name)
end

for _, name in ipairs(redis.call('ZRANGEBYSCORE', order, '-inf', now, 'LIMIT', 0, {AT_ONCE})) do forget(name) end
for n = 3, #ARGV, 2 do
  forget(ARGV[n])
  local memo = string.format('%.17g', over) .. ':' .. ARGV[n + 1]
  redis.call('HSET', memos, ARGV[n], memo)
  redis.call('ZADD', order, over, ARGV[n])
  total = total + #memo
end
while total > most do
  local oldest = redis.call('ZRANGE', order, 0, 0)[1]
  if not oldest then break end
  forget(oldest)
end
redis.call('SET', size, math.max(total, 0))
local seconds = math.max(redis.call('TTL', memos), math.ceil(tonumber(ARGV[1])) + {LATER})
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, seconds) end
"""

RECALL: Final = """
local found = redis.call('HMGET', KEYS[1], unpack(ARGV))
for n, memo in ipairs(found) do
  local colon = memo and string.find(memo, ':', 1, true)
  found[n] = colon and tonumber(string.sub(memo, 1, colon - 1)) > now and string.sub(memo, colon + 1)
end
return found
"""
