from proxy.core.examination import messages
from proxy.core.examination.findings import Standing
from proxy.core.examination.heard import Heard
from tests.support.courses import R, U, W, case_of, found, refused


def test_an_address_that_was_tried() -> None:
    tried = refused("Failed to download the image.")
    row = found(messages.images(case_of(), "x"), tried)
    assert (row.standing, row.seen) == (Standing.SAME, "by address: works (it tried to get one)")
    known = refused("image URLs are not currently supported: will not fetch them", lesson="images")
    row = found(messages.images(case_of(), "x"), known, Heard(200))
    assert dict(row.overrides) == {"images": "data"}


def test_what_fails_with_every_id_has_another_cause() -> None:
    row = found(messages.call_ids(case_of(), "x"), R, R, R, R)
    assert (row.standing, dict(row.overrides)) == (Standing.UNKNOWN, {})
    assert found(messages.call_ids(case_of(call_id="any"), "x"), U, W).standing is Standing.UNKNOWN


def test_neighbours_are_joined_without_a_question() -> None:
    assert found(messages.neighbours(case_of(), "x")).seen == "joined"
    apart = found(messages.neighbours(case_of(join_users=False), "x"), W)
    assert (apart.standing, apart.seen) == (Standing.SAME, "apart: works (so it is)")


def test_instructions() -> None:
    row = found(messages.system_role(case_of(), "x"), R, W)
    assert dict(row.overrides) == {"system_role": "developer"}
    late = found(messages.late_system(case_of(), "x"), R, R, W)
    assert dict(late.overrides) == {"late_system": "merge"}
