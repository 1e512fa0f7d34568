"""Each setting once, with its type, default, bounds and description; read from all their sources.

    section         what every group of settings has in common
    values          what single settings may hold
    server_urls     URLs of servers that keep something, with the secrets in them
    server          settings of the process itself
    backends        of the backends
    tenants         of who may do what
    store           of what is kept
    otel            of traces
    inspector       of the page that shows requests
    recorder        of the exchanges that are kept as files
    root            all groups as one tree
    descriptions    what each is for, from the source
    toml_text       values and tables as files have them
    loading         where the settings come from, and what is wrong with them

A new group is a class in a module of its kind, and a field in `root`.
"""
