"""What the proxy remembers from one request to the next, in bounded memory.

- `consequences` keeps what follows from a list that several requests have in common.
- `remembered` keeps answers about tools and schemas, by their bytes.
- `shelf` keeps values for many owners, so that none of them makes another forget.
"""
