"""The engine in PostgreSQL, which any number of processes and machines may share.

- `wording`: what PostgreSQL says otherwise than SQLite
- `schema`: the tables in a database, and how those of an earlier version become those of today
- `address`: which database, for programs and for people
- `reasons`: why a database did not do what it was asked, and what helps
- `server_clock`: the server's time, by which all go
- `locks`: how a step gets what it asks to hold
- `attempt`: one try at one step
- `connections`: the few connections of a process, and who works on them
- `carrier`: who carries steps out
- `records`, `live`: the protocols, in a database
- `inspection`: one look at it, for commands
"""
