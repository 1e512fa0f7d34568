"""What a person is shown of a request: pure functions from what was noted of it to what a page can print.

- `difference` is the client's request beside the backend's, with what became of each value.
- `events` is a stream as it came: each event with its time.
- `said` is what the model wrote, as the backend sent it, and what the client got of it.
- `taken_out` finds in the one what is not in the other: markup beside what it became.
- `remark_words`, `fault_words` say in words what each counter and each code means.
- `findings` is what stands out in a request, in the order in which a person should look at it.
"""
