"""One key: what it seals, many at once, and for as long as anybody likes."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from proxy.shell.stores.sealing import aes
from proxy.shell.stores.sealing.aes import BODY_AT, MOST_DERIVED, SALT_BYTES, AesKey
from proxy.shell.stores.sealing.seals import ID_BYTES, SealBroken

SECRET = "a key of the tests, long enough"


def test_another_program_could_open_it() -> None:
    """By what the documents say of the form: nobody depends on this code alone."""
    sealed = AesKey(SECRET).sealed(b"data", b"bound")
    salt, nonce, body = sealed[:16], sealed[16:28], sealed[28:]
    root = HKDF(SHA256(), 32, b"", b"responses-proxy store key").derive(SECRET.encode())
    key = HKDF(SHA256(), 32, salt, b"responses-proxy store values").derive(root)
    assert AESGCM(key).decrypt(nonce, body, b"bound") == b"data"


def test_the_same_secret_is_the_same_key_everywhere() -> None:
    assert AesKey(SECRET).id == AesKey(SECRET).id != AesKey(f"{SECRET}.").id
    assert len(AesKey(SECRET).id) == ID_BYTES
    assert AesKey(SECRET).opened(AesKey(SECRET).sealed(b"data", b"b"), b"b") == b"data"


def test_no_nonce_comes_twice_and_no_process_has_the_salt_of_another() -> None:
    sealed = [key.sealed(b"", b"") for key in (AesKey(SECRET), AesKey(SECRET)) for _ in range(1000)]
    assert len({each[:BODY_AT] for each in sealed}) == 2000
    assert len({each[:SALT_BYTES] for each in sealed}) == 2


def test_a_derived_key_is_given_up_before_it_is_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aes, "MOST_VALUES", 10)
    key = AesKey(SECRET)
    sealed = [key.sealed(b"%d" % number, b"") for number in range(35)]
    assert len({each[:SALT_BYTES] for each in sealed}) == 4
    assert [key.opened(each, b"") for each in sealed] == [b"%d" % number for number in range(35)]


def test_salts_that_others_made_up_do_not_fill_the_memory() -> None:
    key, numbers = AesKey(SECRET), count()
    for number in range(MOST_DERIVED + 10):
        with pytest.raises(SealBroken):
            key.opened(next(numbers).to_bytes(SALT_BYTES, "big") + bytes(12 + 16), b"%d" % number)
    assert key._cipher_of.cache_info().currsize == MOST_DERIVED


@pytest.mark.parametrize("cut", [0, 1, SALT_BYTES, BODY_AT - 1, BODY_AT, BODY_AT + 15])
def test_what_is_cut_does_not_open(cut: int) -> None:
    with pytest.raises(SealBroken):
        AesKey(SECRET).opened(AesKey(SECRET).sealed(b"data", b"")[:cut], b"")


def test_threads_seal_and_open_at_once() -> None:
    """As the writer and the reader of a file do."""
    key = AesKey(SECRET)

    def there_and_back(number: int) -> bool:
        data = b"%d" % number * 1000
        return key.opened(key.sealed(data, b"b"), b"b") == data

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(there_and_back, range(2000)))
