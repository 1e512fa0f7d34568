"""Everything that waits: sockets, processes and the log around the core. Nothing here knows a dialect.

- `server` lets requests in. `routes` says which path leads where, `handlers` answer there, and `refusals` answer
  requests that are not let in. `websocket` is one socket, `open_sockets` all of them.
- `engine` is the conductor: the only module that knows the order in which a request passes through the core.
- `relay` is the loop that moves a reply from the backend to the client.
- `in_flight` is one request under way, and `cancellation` how it is stopped; `attempts` knows what follows when one
  attempt at its reply has failed.
- `destination` is where an answer goes, whatever is there; `socket_stream` is the one on a WebSocket.
- `backends` are all that are configured; each `backend` sends requests to its models, within the limits that
  `concurrency` sets, and learns from refusals and replies. `discovery` finds out what stands behind a URL.
- `store` is where the engine finds the responses that later requests continue.
- `secret_mask` removes secrets from the faults that clients are told.
- `http` is the room for HTTP and aiohttp, `ops` shows operators what the proxy does, `offload` has the work that must
  not hold the event loop.
"""
