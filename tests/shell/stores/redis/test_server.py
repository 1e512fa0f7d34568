"""A real server that is stopped, frozen, emptied, full, and of the wrong kind: every wait ends, and all heals."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import trustme

from proxy.shell.stores.protocol import Cursor, Granted, Key, LogRow, StoreDown, StoreUnreadable, Ticket, Want
from proxy.shell.stores.redis.live import RedisLive
from tests.support.redis_live import patient, prefix_of_its_own, until_done
from tests.support.redis_server import RedisProcess

LIMIT_SECONDS = 8.0
"""Far more than one command may take, and far less than a client's own retries would."""

LOG = Key("t", "resp_1")
ROWS = [LogRow(Key("t", f"resp_{n}"), 0, [b"{}"]) for n in range(20)]
CALL = Want("calls", 10)

COMMANDS: list[tuple[str, Callable[[RedisLive], Awaitable[object]]]] = [
    ("open", lambda live: live.open()),
    ("append", lambda live: live.append(ROWS)),
    ("read", lambda live: live.read([Cursor(LOG, 0), Cursor(ROWS[2].key, 0)], 100)),
    ("shut", lambda live: live.shut(LOG)),
    ("end", lambda live: live.end(LOG, 1, b"{}")),
    ("drop", lambda live: live.drop(LOG)),
    ("remember", lambda live: live.remember("t", {"a": b"1"}, 60)),
    ("recall", lambda live: live.recall("t", ["a"])),
    ("take", lambda live: live.take("t", [CALL])),
    ("charge", lambda live: live.charge("t", [CALL])),
    ("enter", lambda live: live.enter("w", [Ticket("q", "a"), Ticket("r", "a")])),
    ("ranks", lambda live: live.ranks("w")),
    ("leave", lambda live: live.leave([Ticket("q", "a")])),
    ("sweep", lambda live: live.sweep(50)),
    ("forget", lambda live: live.forget("t")),
]


def engine(url: str, warnings: list[str] | None = None) -> RedisLive:
    return patient(url, prefix_of_its_own(), warnings)


async def downs(live: RedisLive) -> list[str]:
    """What each command says that cannot be done, in its time."""
    async with asyncio.timeout(LIMIT_SECONDS):
        said = await asyncio.gather(*(command(live) for _, command in COMMANDS), return_exceptions=True)
    assert {type(failure) for failure in said} == {StoreDown}
    return [str(failure) for failure in said]


async def all_work(live: RedisLive) -> None:
    for _, command in COMMANDS:
        await command(live)


async def test_each_command_ends_while_the_server_is_frozen_and_works_afterwards(
    process: RedisProcess, live: RedisLive, hasty: RedisLive
) -> None:
    """And nobody waits for long who waits for a free connection."""
    await all_work(live)
    process.freeze()
    for _ in range(2):
        said = {words.partition(":")[0] for words in await downs(hasty)}
        assert said == {"TimeoutError", "ConnectionError"}
    process.thaw()
    await all_work(live)


async def test_what_was_not_answered_is_not_asked_again(process: RedisProcess, hasty: RedisLive) -> None:
    """U53: whoever wakes does it once."""
    process.freeze()
    with pytest.raises(StoreDown):
        await hasty.take("t", [CALL])
    process.thaw()
    answer = await until_done(lambda: hasty.take("t", [CALL._replace(units=0)]))
    assert isinstance(answer, Granted)
    assert answer.full_in[0] <= 6


async def test_a_server_that_was_restarted_does_not_know_the_scripts(
    process: RedisProcess, live: RedisLive
) -> None:
    """U24: one of them, and many in one question; a connection that is lost costs nobody anything."""
    await all_work(live)
    process.restart()
    assert await live.append(ROWS) == {}
    process.restart()
    await live.shut(LOG)
    with process.client() as client:
        client.script_flush()
    assert len((await live.take("t", [CALL])).full_in) == 1
    await all_work(live)


async def test_a_server_that_is_not_there(process: RedisProcess, live: RedisLive) -> None:
    await all_work(live)
    process.kill()
    assert {words.partition(":")[0] for words in await downs(live)} == {"ConnectionError"}
    process.start()
    await all_work(live)


async def test_a_lost_connection_is_no_failure_for_what_may_be_done_twice(
    process: RedisProcess, live: RedisLive
) -> None:
    async def cut() -> None:
        with process.client() as client:
            client.client_kill_filter(_type="normal", skipme=True)

    await live.open()
    for _, command in COMMANDS[1:8]:
        await cut()
        await command(live)


async def test_a_server_that_only_follows_another_is_down_until_it_leads(
    process: RedisProcess, live: RedisLive
) -> None:
    """U20: a failover; the process starts all the same."""
    with process.client() as client:
        client.replicaof("127.0.0.1", "1")
        for command in (live.open, lambda: live.append(ROWS), lambda: live.take("t", [CALL])):
            with pytest.raises(StoreDown, match=r"(?i)read.?only"):
                await command()
        client.replicaof("NO", "ONE")
    await all_work(live)


async def test_a_server_without_memory_is_down_until_it_has_some(
    process: RedisProcess, live: RedisLive
) -> None:
    await live.open()
    with process.client() as client:
        client.config_set("maxmemory", 1)
        for command in (live.open, lambda: live.append(ROWS), lambda: live.remember("t", {"a": b"1"}, 9)):
            with pytest.raises(StoreDown, match=r"(?i)memory"):
                await command()
        client.config_set("maxmemory", 0)
    await all_work(live)


async def test_a_server_that_may_delete_what_is_needed_is_told(
    process: RedisProcess, live: RedisLive, warnings: list[str]
) -> None:
    await live.open()
    assert warnings == []
    with process.client() as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        await live.open()
        client.config_set("maxmemory-policy", "noeviction")
    assert warnings == ["allkeys-lru"]


@pytest.fixture
async def guarded_by_rights(process: RedisProcess) -> AsyncIterator[RedisProcess]:
    with process.client() as client:
        rights = ["+@all", "-@admin", "-@dangerous", "+info"]
        client.acl_setuser("ours", enabled=True, passwords=["+right"], commands=rights, keys=["test-*"])
        client.acl_setuser(
            "blind", enabled=True, passwords=["+right"], commands=["+@all", "-info"], keys=["*"]
        )
        client.acl_setuser("reader", enabled=True, passwords=["+right"], commands=["+@read"], keys=["*"])
        client.acl_setuser("elsewhere", enabled=True, passwords=["+right"], commands=["+@all"], keys=["x*"])
        yield process
        client.acl_deluser("ours", "blind", "reader", "elsewhere")


async def test_who_has_the_rights_gets_in(guarded_by_rights: RedisProcess) -> None:
    """It need not be allowed to ask how the server deletes; then it is warned."""
    for user, warned in (("ours", []), ("blind", [""])):
        warnings: list[str] = []
        live = engine(guarded_by_rights.url.replace("//", f"//{user}:right@"), warnings)
        await live.open()
        assert warnings == warned
        await all_work(live)
        await live.close()


@pytest.mark.parametrize(
    ("login", "words"),
    [
        ("ours:wrong", "invalid username-password"),
        ("nobody:right", "invalid username-password"),
        ("reader:right", "no permissions to run the 'eval' command"),
        ("elsewhere:right", "no permissions to access"),
    ],
)
async def test_who_has_not_is_told_so(guarded_by_rights: RedisProcess, login: str, words: str) -> None:
    """U63: at the start, in words that show no password."""
    live = engine(guarded_by_rights.url.replace("//", f"//{login}@"))
    with pytest.raises(StoreUnreadable, match=f"(?i){words}") as failure:
        await live.open()
    assert "lets nobody in like this" in str(failure.value)
    assert login.partition(":")[2] not in str(failure.value).replace("rights", "")
    await live.close()


# ── what only says something ──


@asynccontextmanager
async def saying(answer: bytes) -> AsyncIterator[str]:
    """A server that answers all it is asked with the same."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(10_000):
            writer.write(answer)
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"-MOVED 1234 127.0.0.1:7001\r\n", "names a node of a cluster"),
        (b"-CROSSSLOT Keys in request don't hash to the same slot\r\n", "names a node of a cluster"),
        (b"-ERR unknown command `EVAL`\r\n", "cannot do what is needed: unknown command"),
        (b"-NOAUTH Authentication required.\r\n", "Authentication required"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "no Redis and no Valkey"),
    ],
)
async def test_what_cannot_be_used_ends_the_start(answer: bytes, words: str) -> None:
    async with saying(answer) as url:
        live = engine(url)
        with pytest.raises(StoreUnreadable, match=words):
            await live.open()
        with pytest.raises(StoreDown):
            await live.shut(LOG)
        await live.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"-LOADING Redis is loading the dataset in memory\r\n",
        b"-BUSY Redis is busy running a script\r\n",
        b"-MISCONF Redis is configured to save RDB snapshots\r\n",
        b"-CLUSTERDOWN Hash slot not served\r\n",
        b"-MASTERDOWN Link with MASTER is down\r\n",
    ],
)
async def test_what_passes_does_not(answer: bytes) -> None:
    async with saying(answer) as url:
        live = RedisLive(url, "test", [].append)
        for command in (live.open, lambda: live.shut(LOG), lambda: live.append(ROWS)):
            with pytest.raises(StoreDown):
                await command()
        await live.close()


async def test_the_names_of_valkey_mean_the_same(process: RedisProcess) -> None:
    async with saying(b"+OK\r\n") as url:
        live = engine(url.replace("redis:", "valkey:"))
        await live.open()
        await live.close()


# ── TLS ──


@asynccontextmanager
async def behind_tls(process: RedisProcess, authority: trustme.CA) -> AsyncIterator[int]:
    """The server as its provider shows it: all that comes over TLS goes to its socket. The port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)

    async def passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(10_000):
            writer.write(data)
        writer.close()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, asked = await asyncio.open_unix_connection(f"{process.folder}/socket")
        with suppress(ConnectionError):
            await asyncio.gather(passed_on(reader, asked), passed_on(answers, writer))

    server = await asyncio.start_server(talk, "localhost", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize("scheme", ["rediss", "valkeys"])
async def test_over_tls(process: RedisProcess, tmp_path: Path, scheme: str) -> None:
    """Who is not vouched for is not spoken to, and may be another the next time."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    async with behind_tls(process, authority) as port:
        url = f"{scheme}://localhost:{port}/0"
        live = engine(f"{url}?ssl_ca_certs={tmp_path}/ca.pem")
        await live.open()
        await all_work(live)
        await live.close()
        stranger = engine(url)
        with pytest.raises(StoreDown, match="certificate verify failed"):
            await stranger.open()
        await stranger.close()
