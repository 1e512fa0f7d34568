"""What a backend's refusal of a request means: a status that is not 2xx, and the words that came with it."""

from collections.abc import Mapping

from proxy.core.backends.target import Target
from proxy.core.dialects.reading import errors, lessons
from proxy.core.dialects.registry import spoken_by
from proxy.core.errors import Fault, OwnWords

UNAUTHORIZED = 401


def refused(
    status: int, headers: Mapping[str, str], words: bytes, target: Target, *, forwards: bool
) -> Fault:
    """`target`: whom was asked, with the profile and the key of this request. `forwards`: does the backend get the
    client's own key?"""
    if status == UNAUTHORIZED and not target.key:
        return errors.no_key(forwards=forwards)
    fault = spoken_by(target.profile).fault_of(status, headers, words, own_key=target.own_key)
    summary = OwnWords(f"The backend answered {status:d} with {len(words):d} bytes.")
    advice = lessons.advice(words.decode("utf-8", "replace"))
    message = f"{fault.message} ({advice})" if advice else fault.message
    return fault.changed(message=message, own_words=fault.own_words or summary)
