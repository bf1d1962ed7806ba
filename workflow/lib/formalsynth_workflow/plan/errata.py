"""The errata of ``config/errata.yaml``, by every number that a claim may name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from formalsynth.settings.messages import Problems, refusal
from formalsynth_workflow.ledger.claims import ClaimConfig
from formalsynth_workflow.ledger.errata import Erratum

FILE = "errata.yaml"


def by_number(errata: Sequence[Erratum], folder: Path) -> dict[str, Erratum]:
    """Index errata by their numbers, including the numbers of merged errata.

    Args:
        errata: as given.
        folder: the config folder.

    Raises:
        ConfigError: two have the same number, or one is in a paper that does not exist.
    """
    file, problems = folder / FILE, Problems()
    papers = sorted(path.stem for path in (folder / "papers").glob("*.yaml"))
    errata_by_number: dict[str, Erratum] = {}
    for erratum in errata:
        for number in (erratum.id, *erratum.also):
            with problems.catch():
                if number in errata_by_number:
                    allowed = [f"another number: {errata_by_number[number].id} already has it"]
                    raise refusal(file, f"errata.{erratum.id}", number, allowed)
                errata_by_number[number] = erratum
        for at, place in enumerate(erratum.places):
            with problems.catch():
                if place.paper not in papers:
                    raise refusal(file, f"errata.{erratum.id}.places.{at}.paper", place.paper, papers)
    problems.report()
    return errata_by_number


def check_named(claim: ClaimConfig, numbers: Iterable[str], file: Path) -> None:
    """Check that the erratum that a claim names exists.

    Raises:
        ConfigError: it does not.
    """
    if claim.erratum and claim.erratum not in (known := list(numbers)):
        allowed = known or [f"none: there is no erratum in {FILE}"]
        raise refusal(file, f"claims.{claim.id}.erratum", claim.erratum, allowed)


def check_implied(claim: ClaimConfig, others: Sequence[ClaimConfig], file: Path) -> None:
    """Check that the claim named in ``implied_by`` is another claim of the paper, and is not itself implied.

    Raises:
        ConfigError: it is not.
    """
    key = f"claims.{claim.id}.implied_by"
    implying = next((other for other in others if other.id == claim.implied_by), None)
    if claim.implied_by and implying is None:
        allowed = [other.id for other in others if other.kind != "implied"]
        raise refusal(file, key, claim.implied_by, allowed or ["the id of another claim of the paper"])
    if implying is not None and implying.kind == "implied":
        allowed = [f"a claim that is not itself implied: {implying.id} is implied by {implying.implied_by}"]
        raise refusal(file, key, claim.implied_by, allowed)
