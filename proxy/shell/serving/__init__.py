"""Where requests come in, and where those are refused that no surface has seen.

- `server` lets requests in: host, key, route.
- `routes` says which path leads where. There `handlers` answer for models, `token_counting` for requests that
  are only to be counted, `stored_responses` and `conversations` for what is kept.
- `lookups` bounds what those take who ask about what is kept.
- `inspection` shows requests to those who may see them.
- `bodies` reads what requests hold, and `refusals` are errors as answers of their own.
"""
