"""Where what the API remembers lies: two protocols, and the engines that keep them.

- `protocol`: what an engine promises
- `terms`: by which clocks an engine goes, and how long it keeps what
- `logs`: the states of a log, its limit, and when it expires; `log_ends`: how one ends without its owner;
  `log_packing`: its events as rows
- `meters`: how fast a tenant's limits fill
- `location`: which engine, and where, as the settings and the system have it
- `engines`: made there
- `guard`, `guarded_records`, `guarded_live`: a limit on every wait, and a breaker
- `opening`: of a store that may be away
- `beats`: how a worker lives, and when it may bury others
- `shares`: who loses something where all have too much
- `sweeper`: who settles the dead, and deletes what has expired
- `memory`, `sqlite`, `postgres`: the engines; `sql`: what engines share that speak it
- `redis`: an engine for what may be lost
- `sealing`: what is kept is sealed there with the operator's keys
- `failures`: which fault it is when a store fails
- `keys`: what an id says of where its thing is kept
"""
