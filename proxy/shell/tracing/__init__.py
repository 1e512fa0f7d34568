"""Traces for OpenTelemetry: each request as a span, with a child for each time that a backend was asked.

- `spans` makes spans of a request that was watched, in the words of the conventions for generative AI.
- `tracer` is the watcher: it gives each request its place in a trace.
- `span_queue` holds what has ended until it is sent, within bounds; whoever is slow costs spans, and no request.
- `collector` knows the form in which spans are sent, and needs the extra `otel`.

Content is never in a span, nor is a key.
"""
