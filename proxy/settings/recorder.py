"""Settings of the recorder: which exchanges are kept as files, and how much of them."""

from typing import Literal

from pydantic import Field

from proxy.settings.section import Section
from proxy.settings.values import BYTES_PER_MIB


class RecorderSettings(Section):
    keep: Literal["off", "faults", "sampled", "all"] = "off"
    """Which exchanges are kept as files, for `responses-proxy replay`: none, those that failed, a share of all, or all.
    Keys are taken out."""
    content: Literal["keep", "masked"] = "keep"
    """What a file holds of what was said: all of it, or only its lengths, its JSON, its markup, and the names of tools.
    Masked exchanges replay to events of the same kinds."""
    share: float = Field(0.01, gt=0, le=1)
    """Share of the requests that `sampled` keeps."""
    directory: str | None = None
    """Directory of the files. Needed unless `keep` is `off`. Several workers and proxies may share one."""
    max_mib: int = Field(512, ge=1)
    """MiB of all files together. Above it the oldest are deleted."""
    days: float = Field(7, gt=0)
    """Days after which a file is deleted."""

    @property
    def max_bytes(self) -> int:
        return self.max_mib * BYTES_PER_MIB
