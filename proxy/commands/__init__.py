"""What can be asked for on the command line: a module for each command, with its purpose, its options and its work.

    command             what every command is made of: options for settings, exit codes, words for people
    serve               runs the proxy
    codex               runs Codex with it
    codex_program       what Codex is told, and how it is run
    doctor              asks backends what they really can
    backend_or_demo     the configured backends, or a demo model where there are none
    store               shows and changes what is kept
    store_encryption    seals it anew, when keys are rotated
    store_finding       the store that the settings name
    store_files         it in files
    store_database      it in PostgreSQL
    configuration       checks and shows the settings
    writability         can a file be made where the proxy will write?
    progress            what long work says on a terminal while it goes on
    replay              has a recorded exchange once more
    recorded_backend    plays the backend's side of it
    hash_key            makes the digest of a tenant's key

`proxy.cli` gives each its name.
"""
