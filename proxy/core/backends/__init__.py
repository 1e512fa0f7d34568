"""Which backends there are, what each can do, and where it is."""
