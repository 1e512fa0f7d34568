"""What operators see of the proxy, and what the proxy sees of its machine.

- `store_watchers` count what the store does.
- `request_lines` makes the line of a request for people, with `request_remarks` for what was mended.
- `logs` writes lines; `fault_facts` and `tracebacks` say what such a line may tell of a failure.
- `worker_questions` lets the workers of one machine ask one another what each of them knows.
- `metrics` counts what `metric_families` lists, `worker_metrics` asks the other workers for theirs, and `exposition`
  shows it all. `fault_codes` are the codes that may stand there, and in the log.
- `descriptors` and `machine` know how many files and how much memory the proxy may have.
- `tasks` holds background tasks until they end, and `entropy` gives random bits.
"""
