"""Traces for OpenTelemetry: each request as a span, with a child for each time that a backend was asked.

- `spans` makes spans of a request that was watched, in the words of the conventions for generative AI.
- `tracer` is the watcher: it gives each request its place in a trace.
- `span_queue` holds what has ended until it is sent, within bounds; whoever is slow costs spans, and no request.
- `exporter` sends spans to a collector, in the form that it reads, and needs the extra `otel`.

Content is never in a span, nor is a key.
"""
