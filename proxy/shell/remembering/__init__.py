"""What a process tells others, or the one that follows it, and what may be lost.

- `memos`: what is remembered of calls, and all that goes the same way
- `kept_lessons`: what backends have taught
"""
