"""F72: every refusal names the field, in the words of the surface, and the way out."""

import pytest

from proxy.core.errors import ClientFault
from tests.refusals.cases import Case
from tests.refusals.of_quotes import SECRET
from tests.refusals.runs import Told
from tests.refusals.sites import all_sites, family
from tests.refusals.tables import CASES
from tests.refusals.worlds import KEY

LONGEST = 600
"""Characters of a message: a backend's own words, which are cut at 500, and what we say to them."""

TOLD_NOBODY = {
    "ClientFault('The client has left.', status=CLIENT_GONE)",
}
"""Made for the log and the counts: nobody is there to read them."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_told_what_is_wrong_where_and_what_to_do(case: Case, answers: dict[Case, Told]) -> None:
    told = answers[case]
    error = told.error
    assert (told.status, error["type"], error["code"]) == (case.status, case.type, case.code), error
    assert error["param"] == case.param, error
    assert case.says in error["message"], error["message"]
    assert case.param is None or case.param in error["message"] or case.says == error["message"]
    assert len(error["message"]) < LONGEST
    assert not any(secret in f"{error['message']} {error['param']}" for secret in (KEY, SECRET))
    assert tuple(error.get("incompatible_features", ())) == case.features
    assert {name: told.headers.get(name) for name in case.tells} == case.tells


@pytest.mark.parametrize("case", [case for case in CASES if not case.backend], ids=str)
def test_nothing_is_sent_for_it(case: Case, answers: dict[Case, Told]) -> None:
    assert answers[case].sent == 0


def test_every_place_in_the_code_that_refuses_has_its_case(answers: dict[Case, Told]) -> None:
    """A new refusal needs a row in a table, or this fails with its place. Only what has become of the answer counts:
    a refusal that was made and then swallowed has told nobody anything."""
    reached = {
        site
        for told in answers.values()
        for made in told.made
        if told.error["message"].endswith(made.complaint)
        for site in made.through
    }
    sites = {site: code for site, code in all_sites().items() if code not in TOLD_NOBODY}
    missed = [f"{site} {code}" for site, code in sites.items() if site not in reached]
    assert not missed, "\n".join(missed)


def test_the_watch_sees_every_refusal() -> None:
    """None has an `__init__` that does not come to the one which is watched."""
    own = [kind.__name__ for kind in family(ClientFault) if "__init__" in vars(kind)]
    assert own == ["FieldFault"]
