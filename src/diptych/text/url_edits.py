"""URL edit rules, learned from the page pairs of a site, that predict the URL of a counterpart.

A URL is split into pieces at its punctuation.  A rule consists of edits of pieces, with their
positions, that turn one URL of a pair into the other.  A position is counted from the start or the
end of the URL, whichever fits more pairs.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import product
from typing import NamedTuple, TypeAlias

from diptych.text.cognates import shared_prefix

_PIECE = re.compile(r"[:/.\-_?&=,;~+]|[^:/.\-_?&=,;~+]+")
_LEARNED_PAIRS = 200  # pairs of a key to learn rules from; they are very similar
_CHECKED_PAIRS = 1000  # pairs of two languages to check rules against
_MAX_EDITS = 3
_MAX_RULES = 6  # for one key between two languages
_MIN_SHARE = 0.02  # minimum share of a key's pairs for another rule


_Variants: TypeAlias = "dict[tuple[Edit, ...], int]"
"""alternative edit sequences for one change, each with a score for how natural it is"""


class UrlPair(NamedTuple):
    """The URLs of a page pair, the known or inferred languages of the pages, and their key."""

    left: str
    right: str
    left_lang: str
    right_lang: str
    score: float
    key: str


class Edit(NamedTuple):
    """An edit of a URL: the pieces to replace, insert or delete, and their position."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    at: int
    """number of pieces before the edit; if negative, -1 minus the number of pieces after it"""
    part: str = ""
    """`begin` or `end` if only that part of a piece is replaced"""


class Rule(NamedTuple):
    """Edits that turn URLs in one language into URLs in another, and how often they succeeded."""

    left_lang: str
    right_lang: str
    edits: tuple[Edit, ...]
    key: str
    held: int
    tried: int

    @property
    def confidence(self) -> float:
        """The smoothed probability that the rule predicts the right URL; 0.5 without trials."""
        return (self.held + 1) / (self.tried + 2)


class Prediction(NamedTuple):
    """The predicted URL of a counterpart, its probability and its language."""

    url: str
    confidence: float
    lang: str


@dataclass(frozen=True, slots=True)
class EditRules:
    """The edit rules of a site; the most reliable rule comes first."""

    rules: tuple[Rule, ...] = ()

    def predict(self, url: str, lang: str = "") -> list[Prediction]:
        """Predict the URLs of a page's counterparts; the most probable URL comes first.

        If `lang` is empty, rules that only insert pieces are used only if no other rule applies.
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


def learn_rules(pairs: Sequence[UrlPair]) -> EditRules:
    """Learn edit rules from URL pairs."""
    by_langs: defaultdict[tuple[str, str], list[UrlPair]] = defaultdict(list)
    for pair in pairs:
        by_langs[pair.left_lang, pair.right_lang].append(pair)
    rules = [rule for _, group in sorted(by_langs.items()) for rule in _rules(group)]
    rules.sort(key=lambda rule: (-rule.confidence, rule))
    return EditRules(tuple(rules))


def _rules(pairs: list[UrlPair]) -> Iterator[Rule]:
    """Yield the rules for URL pairs of the same two languages, in both directions."""
    by_key: defaultdict[str, list[UrlPair]] = defaultdict(list)
    for pair in sorted(pairs):
        by_key[pair.key].append(pair)
    checks = [
        (_pieces(pair.left), _pieces(pair.right)) for pair in _sample(sorted(pairs), _CHECKED_PAIRS)
    ]
    left, right = pairs[0].left_lang, pairs[0].right_lang
    for key, group in sorted(by_key.items()):
        back = ":".join(reversed(key.split(":", 1)))
        for edits in _covering([_changes(pair) for pair in _sample(group, _LEARNED_PAIRS)]):
            yield Rule(left, right, edits, key, *_checked(edits, checks))
            undone = tuple(Edit(edit.new, edit.old, *edit[2:]) for edit in edits)
            turned = [(two, one) for one, two in checks]
            yield Rule(right, left, undone, back, *_checked(undone, turned))


def _sample(pairs: list[UrlPair], most: int) -> list[UrlPair]:
    """An evenly spread sample of at most `most` pairs."""
    return pairs[:: max(1, -(-len(pairs) // most))]


def _checked(
    edits: tuple[Edit, ...], checks: Sequence[tuple[list[str], list[str]]]
) -> tuple[int, int]:
    """Count the pairs in `checks` that edits predict correctly, and those that they apply to."""
    made = [(apply_edits(one, edits), two) for one, two in checks]
    return sum(url == "".join(two) for url, two in made), sum(url != "" for url, _ in made)


def _covering(changes: list[_Variants]) -> Iterator[tuple[Edit, ...]]:
    """Yield a few edit sequences that together describe most changes, the most frequent first."""
    left = [variants for variants in changes if variants]
    least = max(1.0, _MIN_SHARE * len(left))
    for _ in range(_MAX_RULES):
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
    """Split a URL at its punctuation; punctuation characters are separate pieces.

    >>> _pieces("/a_fr.html")
    ['/', 'a', '_', 'fr', '.', 'html']
    """
    return _PIECE.findall(url)


def _changes(pair: UrlPair) -> _Variants:
    """The edit sequences that turn the left URL into the right one; empty if they are too long."""
    one, two = _pieces(pair.left), _pieces(pair.right)
    spans = list(_spans(one, two))
    if not 0 < len(spans) <= _MAX_EDITS:
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
    """True if the position of an edit is more naturally counted from the start of the URL.

    This is the case for folders, and for all parameters but the last.  The edit replaces the range
    `begin:end` of the pieces `one` with the pieces `new`.
    """
    if "?" in one[:begin]:
        return end < len(one)
    return "/" in one[begin:] or "/" in new


def _spans(one: list[str], two: list[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield (begin, end, new) for each difference between two URLs, given as pieces.

    The range `begin:end` of pieces in the first URL is replaced by the pieces `new`.
    """
    begin = shared_prefix(one, two)
    behind = shared_prefix(one[begin:][::-1], two[begin:][::-1])
    old, new = one[begin : len(one) - behind], two[begin : len(two) - behind]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for what, first, last, to_first, to_last in matcher.get_opcodes():
        if what != "equal":
            yield begin + first, begin + last, tuple(new[to_first:to_last])


def _parts(
    old: tuple[str, ...], new: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], str]]:
    """If one piece is replaced, yield edits of only its start or end (`e` to `c` in `06e`)."""
    if len(old) != 1 or len(new) != 1:
        return
    one, two = old[0], new[0]
    if same := shared_prefix(one, two):
        yield (one[same:],), (two[same:],), "end"
    if same := shared_prefix(one[::-1], two[::-1]):
        yield (one[: len(one) - same],), (two[: len(two) - same],), "begin"


def apply_edits(pieces: list[str], edits: tuple[Edit, ...]) -> str:
    """Apply edits to the pieces of a URL, and return the new URL, or '' if an edit does not apply.

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
    """The pieces that replace `found` in a URL, or None if the edit does not apply to them."""
    if not edit.part:
        return list(edit.new) if tuple(found) == edit.old else None
    old, new, piece = edit.old[0], edit.new[0], found[0]
    if edit.part == "end" and piece.endswith(old):
        return [piece[: len(piece) - len(old)] + new]
    if edit.part == "begin" and piece.startswith(old):
        return [new + piece[len(old) :]]
    return None
