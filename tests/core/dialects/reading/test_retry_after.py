"""F11: how long a backend asks to be spared, in each form that it can say it."""

from proxy.core.dialects.reading import retry_after
from tests.support.tables import table

DATE = "Wed, 21 Oct 2015 07:28:00 GMT"
LATER = "Wed, 21 Oct 2015 07:28:30 GMT"


@table(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"RETRY-AFTER-MS": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
        ({"retry-after": "9999"}, 120.0),
        ({"retry-after": "inf"}, 120.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": LATER, "date": DATE}, 30.0),
        ({"retry-after": DATE, "date": LATER}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT", "date": DATE}, 120.0),
        ({"retry-after": LATER}, None),
        ({"retry-after": "Wed, 21 Oct 99999999999999999999 07:28:00 GMT", "date": DATE}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 +99999999999999999999", "date": DATE}, None),
        ({"retry-after": LATER, "date": "today"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 -0000", "date": DATE}, None),
    ],
)
def test_seconds(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after.seconds(headers) == seconds
