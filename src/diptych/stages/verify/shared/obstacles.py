"""Reasons to reject a page pair before scoring, because it cannot be a translation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from diptych.language.codes import same_language
from diptych.page.distinct import content_of
from diptych.reason import Reason
from diptych.stages.verify.shared.features import copied, length_of
from diptych.types import Candidate, Page

_MAX_MENU_ITEM = 25.0  # letters; a shorter block is mostly a menu item or a label
_MIN_PART = 0.2  # minimum share of a language in a partly translated page
_MIN_CLEAR = 0.9  # minimum score of a language to be certain


def obstacle(candidate: Candidate, *, min_letters: float, max_copied: float) -> str:
    """The reason why two pages cannot be translations of each other, or "" if there is none.

    A bilingual page is paired with itself; this does not count as a copy.
    """
    left, right, pair = candidate.left, candidate.right, candidate.pair
    is_split = pair.left == pair.right
    if not is_split and content_of(left.record) == content_of(right.record):
        return Reason.COPY
    if min(own_texts(left, right)) < max(min_letters, 1.0):
        # A page that is mostly copied has little text of its own.
        return Reason.COPY if copied(left, right) > max_copied else Reason.TOO_LITTLE_TEXT
    if reason := _language_obstacle(candidate, is_split=is_split):
        return reason
    return Reason.COPY if copied(left, right) > max_copied else ""


def _language_obstacle(candidate: Candidate, *, is_split: bool) -> str:
    """The reason why the languages of two pages rule out a translation, or "" if they do not."""
    left, right, pair = candidate.left, candidate.right, candidate.pair
    if not is_split and not (left.lang and right.lang):
        return Reason.UNKNOWN_LANGUAGE
    if same_language(pair.left_lang, pair.right_lang):
        return Reason.SAME_LANGUAGE
    if is_split:  # the page as a whole has one language, but each half has its own
        return ""
    if same_language(left.lang, right.lang) and not (
        _is_partly_in(left, pair.left_lang) and _is_partly_in(right, pair.right_lang)
    ):
        return Reason.SAME_LANGUAGE
    is_other = _is_clearly_other(left, pair.left_lang) or _is_clearly_other(right, pair.right_lang)
    return Reason.WRONG_LANGUAGE if is_other else ""


def _is_partly_in(page: Page, lang: str) -> bool:
    """True if a sufficient share of a page is in the given language."""
    return any(
        score >= _MIN_PART and same_language(found, lang) for found, score in page.record.langs
    )


def _is_clearly_other(page: Page, lang: str) -> bool:
    """True if a page is clearly in a language other than `lang`."""
    if same_language(page.lang, lang):
        return False
    return any(score >= _MIN_CLEAR and found == page.lang for found, score in page.record.langs)


def own_texts(left: Page, right: Page) -> tuple[float, float]:
    """The numbers of letters in blocks that only one page has; short blocks count half.

    Template pages with hardly any text consist mostly of menu items, which are short, and of blocks
    that are on both pages.
    """
    ours, theirs = (Counter([block.text for block in page.blocks]) for page in (left, right))
    return _own_letters(ours, theirs), _own_letters(theirs, ours)


def _own_letters(counts: Mapping[str, int], others: Mapping[str, int]) -> float:
    total = 0.0
    for text, count in counts.items():
        if own := max(count - others.get(text, 0), 0):
            length = length_of[text]
            total += own * length * (0.5 if length < _MAX_MENU_ITEM else 1.0)
    return total
