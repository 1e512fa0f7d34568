"""What the proxy remembers from one request to the next, in bounded memory.

- `remembered` keeps answers about tools and schemas, by their bytes.
- `shelf` keeps values for many owners, so that none of them makes another forget.
"""
