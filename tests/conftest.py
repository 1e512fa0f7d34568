"""For all tests."""

import gc


def pytest_collection_finish() -> None:
    """What was collected lives to the end: walking over it again and again would be a tenth of the core suite."""
    gc.collect()
    gc.freeze()
