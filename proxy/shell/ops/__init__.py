"""What operators see of the proxy, and what the proxy sees of its machine.

- `logs` writes lines; `fault_facts` and `tracebacks` say what such a line may tell of a failure.
- `metrics` counts, and `worker_metrics` lets the workers of one machine tell each other what they have counted.
- `descriptors` and `machine` know how many files, and how much memory, there are.
- `tasks` keeps background tasks from getting lost, and `entropy` is where chance comes from.
"""
