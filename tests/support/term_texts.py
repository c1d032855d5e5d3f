"""A small corpus with terms, for tests of what finds them."""

from __future__ import annotations

from diptych.units import Unit
from support.corpora import Said, side, unit

_PLACES = (
    ("harbour", "port"), ("island", "île"), ("coast", "côte"), ("village", "village"),
    ("bridge", "pont"), ("valley", "vallée"), ("castle", "château"), ("forest", "forêt"),
)  # fmt: skip
_ACTIONS = (
    ("guards", "garde"), ("watches", "surveille"), ("serves", "sert"), ("avoids", "évite"),
    ("protects", "protège"),
)  # fmt: skip
_SUBJECTS = (
    ("the red lighthouse", "le phare rouge"), ("the lighthouse", "le phare"),
    ("the keeper of the light", "le gardien du feu"), ("the old bell", "la vieille cloche"),
    ("a fog signal", "un signal de brume"),
)  # fmt: skip


def sentences() -> list[tuple[str, str]]:
    """Forty sentences and their translations, such as "Today the red lighthouse guards ..."."""
    found = []
    for number in range(40):
        subject, action, place = (
            some[number % len(some)] for some in (_SUBJECTS, _ACTIONS, _PLACES)
        )
        action = _ACTIONS[(number + number // 5) % len(_ACTIONS)]
        found.append(
            (
                f"Today {subject[0]} {action[0]} the {place[0]}.",
                f"Aujourd’hui {subject[1]} {action[1]} le {place[1]}.",
            )
        )
    return found


def units(langs: tuple[str, str] = ("en", "fr"), **labels: int) -> list[Unit]:
    """The sentences as a corpus, with the label "Contact us" so many times as `contact` says."""
    left, right = langs
    found = [unit(side(left, one), side(right, other)) for one, other in sentences()]
    if copies := labels.get("contact"):
        texts = side(left, "Contact us"), side(right, "Nous contacter")
        found.append(unit(*texts, score=0.98, copies=copies))
    return found


def told() -> list[Said]:
    """The sentences as segments of a run."""
    return [Said(one, other, 0.99) for one, other in sentences()]
