"""How an event is put on each transport."""

from proxy.core.surfaces.framing import LOG, SOCKET, SSE, replayed


def test_an_event_stream_names_each_event_and_says_when_it_is_over() -> None:
    assert SSE.before("error") + b"{}" + SSE.after == b"event: error\ndata: {}\n\n"
    assert SSE.end == b"data: [DONE]\n\n"
    assert SSE.extras


def test_a_message_of_a_socket_is_the_event_alone_and_nothing_follows_the_last() -> None:
    assert SOCKET.before("error") + b"{}" + SOCKET.after == b"{}"
    assert SOCKET.end is None
    assert not SOCKET.extras


def test_an_event_of_a_log_stands_in_a_stream_as_it_did_the_first_time() -> None:
    event = b'{"type":"response.queued","sequence_number":1}'
    kept = LOG.before("response.queued") + event + LOG.after
    assert kept == event
    assert replayed(kept) == SSE.before("response.queued") + event + SSE.after
