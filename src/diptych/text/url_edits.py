"""What the keys of a site teach: the URL that the counterpart of a page should have.

A rule is what changes from one URL of a pair to the other, piece by piece, and where: counted from
the beginning of the URL or from its end, whichever holds for more pairs.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import product
from typing import NamedTuple, TypeAlias

__all__ = ["Edit", "KeyBook", "Prediction", "Rule", "UrlPair", "learn_rules"]

_PIECE = re.compile(r"[:/.\-_?&=,;~+]|[^:/.\-_?&=,;~+]+")
_SAMPLE = 200  # pairs of a key that rules are learned from; they are much alike
_CHECKED = 1000  # pairs of two languages that rules are checked against
_MOST_EDITS = 3
_MOST_RULES = 6  # for one key between two languages
_LEAST_SHARE = 0.02  # of a key's pairs that is worth another rule


_Variants: TypeAlias = "dict[tuple[Edit, ...], int]"
"""ways to tell one change, and how natural each is"""


class UrlPair(NamedTuple):
    """Two URLs, the languages of their pages as known or inferred, and the key that pairs them."""

    left: str
    right: str
    left_lang: str
    right_lang: str
    score: float
    key: str


class Edit(NamedTuple):
    """Pieces of a URL that are replaced, inserted or deleted, and where."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    at: int
    """pieces before it; negative: one less than minus the pieces behind it"""
    part: str = ""
    """`begin` or `end` where it is only that part of a piece that is replaced"""


class Rule(NamedTuple):
    """How to get from pages in one language to those in another, and how often that held."""

    left_lang: str
    right_lang: str
    edits: tuple[Edit, ...]
    key: str
    held: int
    tried: int

    @property
    def confidence(self) -> float:
        """How likely it holds next time (Laplace): never certain, and one half for no trial."""
        return (self.held + 1) / (self.tried + 2)


class Prediction(NamedTuple):
    """The URL a counterpart should have, how likely that is, and its language."""

    url: str
    confidence: float
    lang: str


@dataclass(frozen=True, slots=True)
class KeyBook:
    """The rules of a site, most trustworthy first; made anew when more of the site is known."""

    rules: tuple[Rule, ...] = ()

    def predict(self, url: str, lang: str = "") -> list[Prediction]:
        """Where the counterparts of a page should be, likeliest first.

        Without a language, rules that only insert are for pages that no other rule is for.
        """
        pieces = _pieces(url)
        rules = [rule for rule in self.rules if lang in ("", rule.left_lang)]
        if not lang:
            marked = [
                rule
                for rule in rules
                if any(edit.old for edit in rule.edits) and apply_edits(pieces, rule.edits)
            ]
            rules = marked or rules
        found: dict[str, Prediction] = {}
        for rule in rules:
            target = apply_edits(pieces, rule.edits)
            if target and target != url and target not in found:
                found[target] = Prediction(target, rule.confidence, rule.right_lang)
        return sorted(found.values(), key=lambda made: (-made.confidence, made.url))


def learn_rules(pairs: Sequence[UrlPair]) -> KeyBook:
    """The rules behind pairs that were found, by keys or otherwise."""
    by_langs: defaultdict[tuple[str, str], list[UrlPair]] = defaultdict(list)
    for pair in pairs:
        by_langs[pair.left_lang, pair.right_lang].append(pair)
    rules = [rule for _, group in sorted(by_langs.items()) for rule in _rules(group)]
    rules.sort(key=lambda rule: (-rule.confidence, rule))
    return KeyBook(tuple(rules))


def _rules(pairs: list[UrlPair]) -> Iterator[Rule]:
    """The rules between two languages, in both directions."""
    by_key: defaultdict[str, list[UrlPair]] = defaultdict(list)
    for pair in sorted(pairs):
        by_key[pair.key].append(pair)
    checks = [(_pieces(pair.left), _pieces(pair.right)) for pair in _some(sorted(pairs), _CHECKED)]
    left, right = pairs[0].left_lang, pairs[0].right_lang
    for key, group in sorted(by_key.items()):
        back = ":".join(reversed(key.split(":", 1)))
        for edits in _covering([_changes(pair) for pair in _some(group, _SAMPLE)]):
            yield Rule(left, right, edits, key, *_checked(edits, checks))
            undone = tuple(Edit(edit.new, edit.old, *edit[2:]) for edit in edits)
            turned = [(two, one) for one, two in checks]
            yield Rule(right, left, undone, back, *_checked(undone, turned))


def _some(pairs: list[UrlPair], most: int) -> list[UrlPair]:
    """So many of a list, from all over it."""
    return pairs[:: max(1, -(-len(pairs) // most))]


def _checked(
    edits: tuple[Edit, ...], checks: Sequence[tuple[list[str], list[str]]]
) -> tuple[int, int]:
    """How often a rule held, and how often it could be tried."""
    made = [(apply_edits(one, edits), two) for one, two in checks]
    return sum(url == "".join(two) for url, two in made), sum(url != "" for url, _ in made)


def _covering(changes: list[_Variants]) -> Iterator[tuple[Edit, ...]]:
    """As few rules as cover most of the changes that were seen: the commonest first."""
    left = [variants for variants in changes if variants]
    least = max(1.0, _LEAST_SHARE * len(left))
    for _ in range(_MOST_RULES):
        votes = Counter(edits for variants in left for edits in variants)
        if not votes or max(votes.values()) < least:
            return
        natural: Counter[tuple[Edit, ...]] = Counter()
        for variants in left:
            natural.update(variants)
        best = min(votes, key=lambda edits: (-votes[edits], -natural[edits], edits))
        yield best
        left = [variants for variants in left if best not in variants]


def _pieces(url: str) -> list[str]:
    """A URL cut at its punctuation, which is kept.

    >>> _pieces("/a_fr.html")
    ['/', 'a', '_', 'fr', '.', 'html']
    """
    return _PIECE.findall(url)


def _changes(pair: UrlPair) -> _Variants:
    """All ways to tell what changes from one URL of a pair to the other."""
    one, two = _pieces(pair.left), _pieces(pair.right)
    spans = list(_spans(one, two))
    if not 0 < len(spans) <= _MOST_EDITS:
        return {}
    choices = []
    for begin, end, new in spans:
        old = tuple(one[begin:end])
        forms = [(old, new, ""), *_parts(old, new)]
        places = (begin, end - len(one) - 1)
        usual = places[0] if _is_counted_from_start(one, begin, end, new) else places[1]
        choices.append([
            (Edit(*form[:2], at, form[2]), 2 * (not form[2]) + (at == usual))
            for form in forms
            for at in places
        ])  # fmt: skip
    return {
        tuple(edit for edit, _ in chosen): sum(natural for _, natural in chosen)
        for chosen in product(*choices)
    }


def _is_counted_from_start(one: list[str], begin: int, end: int, new: tuple[str, ...]) -> bool:
    """Folders are, and parameters but the last; what is in the name of the file is not."""
    if "?" in one[:begin]:
        return end < len(one)
    return "/" in one[begin:] or "/" in new


def _spans(one: list[str], two: list[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """(begin, end, new): which pieces of one URL are replaced by which to get the other."""
    begin = 0
    while begin < min(len(one), len(two)) and one[begin] == two[begin]:
        begin += 1
    behind = 0
    while behind < min(len(one), len(two)) - begin and one[-1 - behind] == two[-1 - behind]:
        behind += 1
    old, new = one[begin : len(one) - behind], two[begin : len(two) - behind]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for what, first, last, to_first, to_last in matcher.get_opcodes():
        if what != "equal":
            yield begin + first, begin + last, tuple(new[to_first:to_last])


def _parts(
    old: tuple[str, ...], new: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], str]]:
    """The change of one piece as a change of its end or beginning: `06e` to `06c`."""
    if len(old) != 1 or len(new) != 1:
        return
    one, two = old[0], new[0]
    size = min(len(one), len(two))
    same = next((place for place in range(size) if one[place] != two[place]), size)
    if same:
        yield (one[same:],), (two[same:],), "end"
    same = next((place for place in range(size) if one[-1 - place] != two[-1 - place]), size)
    if same:
        yield (one[: len(one) - same],), (two[: len(two) - same],), "begin"


def apply_edits(pieces: list[str], edits: tuple[Edit, ...]) -> str:
    """The URL after all edits, or nothing where one of them does not fit.

    >>> apply_edits(["/", "a", ".", "html"], (Edit((), ("_", "fr"), -3),))
    '/a_fr.html'
    """
    parts = list(pieces)
    placed = [(_place(edit, len(pieces)), edit) for edit in edits]
    for begin, edit in sorted(placed, key=lambda entry: -entry[0]):
        length = 1 if edit.part else len(edit.old)
        if begin < 0 or begin + length > len(pieces):
            return ""
        fitted = _fitted(parts[begin : begin + length], edit)
        if fitted is None:
            return ""
        parts[begin : begin + length] = fitted
    return "".join(parts)


def _place(edit: Edit, count: int) -> int:
    if edit.at >= 0:
        return edit.at
    return count + 1 + edit.at - (1 if edit.part else len(edit.old))


def _fitted(found: list[str], edit: Edit) -> list[str] | None:
    """What is put in the place of some pieces, or None where they are not those meant."""
    if not edit.part:
        return list(edit.new) if tuple(found) == edit.old else None
    old, new, piece = edit.old[0], edit.new[0], found[0]
    if edit.part == "end" and piece.endswith(old):
        return [piece[: len(piece) - len(old)] + new]
    if edit.part == "begin" and piece.startswith(old):
        return [new + piece[len(old) :]]
    return None
