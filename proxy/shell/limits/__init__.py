"""What may be had only so often or so many times at once: by this process alone, or by all that share a store.

- `tenant_limits`: requests and calls of a tenant in a minute
- `shared_slots`: the slots of a backend, as one process gets them from the queue before it
- `tickets`: the tickets of this process in all queues
"""
