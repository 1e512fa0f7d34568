"""The refusal of a file that a backend cannot read: the client has to send it in another form."""

from proxy.core.dialects.writing.data_urls import DataUrl
from proxy.core.errors import ClientFault
from proxy.core.masking.redact import shown
from proxy.core.model import File


def unreadable_file(file: File, found: DataUrl | None) -> ClientFault:
    """`found`: what stands inside the request, if anything does."""
    what = f"of type {shown(found.media_type) or 'unknown'}" if found else "that is not inside the request"
    return ClientFault(
        f"{file.path} cannot be read by the backend, for it is a file {what}: send its text, or images of its pages.",
        param=file.path,
        code="unsupported_content",
    )
