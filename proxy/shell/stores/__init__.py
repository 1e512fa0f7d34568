"""Where what the API remembers lies: two protocols, and the engines that keep them.

- `protocol`: what an engine promises
- `terms`: by which clocks an engine goes, and how long it keeps what
- `keys`: what an id says of where its thing is kept
"""
