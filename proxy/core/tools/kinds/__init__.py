"""The kinds of tools that are not functions, each translated into a function and back.

- `bridges` is the table: one row for each kind.
- `custom` takes free text; `shell`, `local_shell` and `apply_patch` are tools that agents declare by their type alone.
"""
