"""What the inspector's page shows, as data, and the page itself.

- `ring` keeps the requests under way and the last ones, within bounds.
- `summaries` is a request in a list; `details` all that is known of one; `contents` what was said in it.
- `store_lookup` finds what the store has by an id.
- `standing` is how backends and tenants stand now.
- `gatherer` gets it from all workers; `door` says who may see it.
- `page` is a folder: the files that a browser gets, as they are. `files` reads them.

Content is shown only where the recorder keeps it, and as the recorder keeps it: nothing here asks for content.
"""
