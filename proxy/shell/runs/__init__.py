"""Work that goes on in the background: no connection is its own, and it is kept from its beginning on.

- `runs` are those of this process: their places, their tasks, and how they are ended from elsewhere.
- `run` is one of them, as the engine sees it; `log_channel` is where its answer goes.
- `log_writer` keeps the events of all streamed runs, before anybody gets them.
- `followers` are those who get them, here and on other processes; `following` tells one client.
"""
