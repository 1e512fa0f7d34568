"""What all engines share that speak SQL: the statements, and how several of them make one step.

- `statements`: each by its name
- `tables`: what they are about
- `step`: what a step is: it asks, and never waits
- `packing`: a response as a row
- `shared_steps`: who lives, what can be read, and what holds what was deleted
- `conversation_steps`: those of conversations
- `census_steps`: what people are shown of its size
- `sealing_steps`: those that seal anew
- `room_steps`: the one that makes room, and what the sweeper knows of who has how much
- `record_steps`: those of responses, and of those who work on them
- `carrier`: who carries steps out, and what they say of themselves; `records`, `live`: the protocols, by steps
- `log_statements`, `live_steps`: the same for logs and memos
- `limit_statements`, `limit_steps`: the same for meters and queues
"""
