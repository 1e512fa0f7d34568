"""Work that must not hold the event loop."""
