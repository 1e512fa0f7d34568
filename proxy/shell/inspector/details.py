"""All that is known of one request but for what was said in it: how its time went, and each counter in words."""

from typing import Any

from proxy.core.inspected import remark_words
from proxy.core.inspected.findings import findings
from proxy.shell.inspector.ring import Seen
from proxy.shell.inspector.summaries import noted, summary


def detail(seen: Seen, id: str) -> dict[str, Any]:
    watch = seen.watch
    return summary(seen, id) | {
        "findings": [finding._asdict() for finding in findings(noted(watch))],
        "remarks": [
            {"kind": kind, "name": name, "times": times, "words": words(name)}
            for kind, key, words in (
                ("found in text", "markup", remark_words.markup),
                ("odd", "oddities", remark_words.oddity),
                ("not passed on", "dropped", remark_words.loss),
            )
            for name, times in sorted(watch.remarks.get(key, {}).items())
        ],
        "warnings": len(watch.warnings),
    }
