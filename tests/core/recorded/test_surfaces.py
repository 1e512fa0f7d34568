"""The surface of a recorded request."""

from proxy.core import jsontext
from proxy.core.recorded.recording import Conditions, Options
from proxy.core.recorded.surfaces import body_of, surface_of
from proxy.core.surfaces.responses.surface import ResponsesSurface
from tests.support.recordings import recording
from tests.support.replies import REQUEST, counting_mint


def test_each_by_its_name() -> None:
    conditions = Conditions({"name": "ann"}, Options(message_first=True))
    for name in ("responses", "compact", "input_tokens", "chat", "native"):
        surface = surface_of(name, conditions, counting_mint(), lambda: 7.0)
        assert surface.name == name
        if isinstance(surface, ResponsesSurface):
            assert surface.options.message_first
            assert surface.real_name("m") == "m"
    named = surface_of("responses", Conditions({}, real_model="real"), counting_mint(), lambda: 7.0)
    assert isinstance(named, ResponsesSurface)
    assert named.real_name("m") == "real"


def test_a_body_is_read_as_its_path_or_its_socket_says() -> None:
    assert body_of(recording().request) == REQUEST
    message = {"type": "response.create", "model": "m", "input": "Hi", "stream_id": "a"}
    request = recording(jsontext.dumps(message), transport="websocket").request
    assert body_of(request) == {"model": "m", "input": "Hi", "stream": True}
    assert body_of(recording(surface="input_tokens").request)["store"] is False
    assert body_of(recording(surface="compact").request)["stream"] is False
