"""What others see of requests while they run: the recorder, the inspector, a tracer, a terminal.

- `watch` is one request as data: when it began, each attempt with its times, how it ended.
- `content` is what was said in it, kept only where a watcher wants it, and within bounds.
- `watchers` hands each request to those who watch. One that fails never hurts a request.

Where somebody watches, the engine notes each attempt and its times in plain lists. There is at most one `Watch` for
each request: from the beginning where a watcher wants to be told of that, else as soon as somebody looks, which at
most requests nobody does. Without content there is no work for a chunk. Nothing is noted twice: what the line in the
log tells stands in the ledger, and what is under way is known to `under_way`.

To add a watcher, write a class with the six members of `Watcher`, and have `proxy.watchers` make one where the
settings ask for it. `begun` is called before the body is read, `ended` after the line in the log, both in the event
loop: whoever has more to do than to keep the `Watch` does it elsewhere. Between the two the `Watch` changes under its
readers' eyes, between two waits. It may be kept for long: it holds no key, no frame, and nothing of what was said but
its `content`.

What is not seen: the small questions that ask no model (models, health, stored responses, conversations), but for those
that are refused at the door.
"""
