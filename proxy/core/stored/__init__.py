"""What the API remembers, as data: records of responses, what may become of them, and how they are read and listed.

- `record`: one response as it is kept; its statuses, and which follows which
- `conversation`: a conversation and the places of its items

Nothing here knows where records lie: that is `proxy.shell.stores`.
"""
