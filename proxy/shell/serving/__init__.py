"""Where requests come in, and where those are refused that no surface has seen.

- `server` lets requests in: host, key, route.
- `routes` says which path leads where, and `handlers` answer there.
- `refusals` are errors as answers of their own.
"""
