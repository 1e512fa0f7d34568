"""Exchanges as files, for those who have to find out later what happened: see `proxy.core.recorded`.

- `recorder` is the watcher: it says of which requests what is said is wanted, and which of them are kept.
- `taking` makes a recording of what was watched, `writer` writes it without its keys, and `retention` sees to it that
  there are not too many.
"""
