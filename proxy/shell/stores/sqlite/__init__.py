"""The engine in a file of SQLite, which several processes of one machine may share.

- `lock`: the lock beside the file
- `schema`: the tables, and how a file of an earlier version becomes one of today
- `reasons`: why a file cannot be used
- `inspection`: one look at it, for commands
- `file`: one file, its two threads, and how writes are put together
- `space`: the room that a file takes
- `records`, `live`: the protocols, in a file
"""
