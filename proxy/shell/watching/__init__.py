"""What others see of requests while they run: the recorder, the inspector, a tracer, a terminal.

- `watch` is one request as data: when it began, each attempt with its times, how it ended.
- `content` is what was said in it, kept only where a watcher wants it, and within bounds.
- `watchers` hands each request to those who watch. One that fails never hurts a request.

The engine makes at most one `Watch` for each request. Without watchers it makes none. Without content there is no work
for a chunk: the times are noted once in an attempt.

To add a watcher, write a class with the four members of `Watcher`, and have `proxy.watchers` make one where the
settings ask for it. `begun` is called before the body is read, `ended` after the line in the log, both in the event
loop: whoever has more to do than to keep the `Watch` does it elsewhere. Between the two the `Watch` changes under its
readers' eyes, between two waits: an inspector that keeps it from `begun` on sees the request live.

What is not seen: the small questions that ask no model (models, health, stored responses, conversations), but for those
that are refused at the door.
"""
