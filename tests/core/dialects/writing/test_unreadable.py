"""The refusal names the field, what is wrong with the file, and what to send instead."""

from proxy.core.dialects.writing.data_urls import DataUrl
from proxy.core.dialects.writing.unreadable import unreadable_file
from proxy.core.model import File


def test_what_is_said() -> None:
    file = File(path="input[0].content[0].file_data")
    for found, what in (
        (DataUrl("application/pdf", ""), "of type application/pdf"),
        (DataUrl("", ""), "of type unknown"),
        (None, "that is not inside the request"),
    ):
        fault = unreadable_file(file, found)
        assert fault.param == file.path
        assert fault.code == "unsupported_content"
        assert f"it is a file {what}: send its text" in fault.message
