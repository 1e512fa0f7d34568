"""What is kept is sealed with the operator's keys: whoever has only the disk, a copy or the wire reads nothing.

- `seals`: what engines ask to seal and to open, and what they say of what they cannot read
- `aes`: one key, and what is made with it
- `memos`: theirs
- `keyring`: the seals of the settings
"""
