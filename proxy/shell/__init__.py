"""Everything that waits: sockets, processes and the log around the core. Nothing here knows a dialect.

- `engine` is the conductor: the only module that knows the order in which a request passes through the core. `relay` is
  its loop, which moves a reply from the backend to the client.
- `in_flight` is one request under way, `under_way` are all of them, and `cancellation` how one is stopped. All are
  refused and told to the log alike, in their `request_scope`, and read alike, whatever is asked of them, by
  `request_reading`.
- `attempts` knows what follows when one attempt at a reply has failed.
- `destination` is where an answer goes, whatever is there. `turn_store` is what is kept between turns, as the engine
  sees it, and `stored_turns` the one that all share. `keeping` says which replies are kept.
- `backends` are all that are configured; each `backend` sends requests to its models, within the limits that
  `concurrency` sets. `known_models` are what it has learned of them, from refusals and replies. `discovery` finds out
  what stands behind a URL.
- `examiner` puts the questions of an examination to a backend.
- `secret_mask` removes secrets from the faults that clients are told.

Rooms:

- `serving` lets requests in, and `websocket` holds sockets open.
- `runs` go on in the background.
- `watching` is how others see requests while they run; `inspector` shows them on a page, `recorder` keeps some as
  files.
- `tracing` makes traces of them.
- `remembering` is what processes tell each other of calls, and the next one of backends.
- `limits` are what may be had only so often, or so many times at once.
- `stores` are the engines that keep what the API remembers.
- `http` knows HTTP and aiohttp, `ops` shows operators what the proxy does, `offload` has the work that must not hold
  the event loop.
"""
