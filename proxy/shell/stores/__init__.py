"""Where what the API remembers lies: two protocols, and the engines that keep them.

- `protocol`: what an engine promises
"""
