"""What the proxy remembers from one request to the next, in bounded memory.

- `remembered` keeps answers about schemas, by the schema's bytes.
- `shelf` keeps values for many owners, so that none of them makes another forget.
"""
