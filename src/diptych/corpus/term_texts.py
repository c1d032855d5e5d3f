"""Texts as term extraction reads them: words with their places, phrases and labels."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from unicodedata import category

from diptych.learn.lexicon.phrases import MAX_WORDS, Sentence, Span
from diptych.text.tokens import PlacedToken, placed_tokens

Words = tuple[str, ...]
"""the tokens of a phrase"""

MAX_LABEL = 4  # words of a label, on at least one side
MAX_LONGER_LABEL = 6  # words on the other side: "privacy policy" is three words in French
_MAX_LABEL_LETTERS = 100  # longer texts are not labels, and their words need not be read
_JOINT = re.compile(r"\s*|['\u2018\u2019\u02bc]|[-\u2010\u2011]")
_LABEL_JOINT = re.compile(r"[\s'\u2018\u2019\u02bc\u2010-\u2014&,/()\"\u201c-\u201e\xab\xbb-]*")
# Besides hyphens, quotation marks that are letters: "O\u2018zbekiston" is one word of Uzbek.
_TIES = frozenset("-\u2010\u2011\u2018\u02bc")
_IN_ADDRESS = re.compile(r"://|@")
_SENTENCE_END = re.compile(r"[.!?\u2026\u3002\uff01\uff1f\u061f\u0964]\W*$")
# At these log-odds, 91% to 100% of the function words in the texts that `function_words` was fitted
# to are recognised (Japanese: 82%), and 60% to 89% of the words above are function words.
MAX_LOG_ODDS = -0.5
_RUNNING_WORDS = 6  # words of a text that is probably a sentence
_MAX_CAPITALISED = 0.5  # share of capitalised words in a sentence; headings may have more


@dataclass(frozen=True)
class TermText:
    """One side of a segment."""

    text: str
    lang: str

    @cached_property
    def tokens(self) -> list[PlacedToken]:
        """The tokens of the text and their places."""
        return placed_tokens(self.text, self.lang)

    @cached_property
    def words(self) -> Words:
        """The tokens of the text."""
        return tuple([token for token, _, _ in self.tokens])

    @cached_property
    def gaps(self) -> list[str]:
        """The text between each word and the word before."""
        text, place, found = self.text, 0, []
        for _, start, end in self.tokens:
            found.append(text[place:start])
            place = end
        return found

    @cached_property
    def is_joined(self) -> list[bool]:
        """For each word, True if no punctuation stands between it and the word before."""
        return [
            place > 0 and (gap == " " or _JOINT.fullmatch(gap) is not None)
            for place, gap in enumerate(self.gaps)
        ]

    def clauses(self) -> Iterator[Words]:
        """The words, divided at punctuation.

        >>> list(TermText("Up, up and away!", "en").clauses())
        [('up',), ('up', 'and', 'away')]
        """
        start = 0
        for place, is_joined in enumerate(self.is_joined):
            if not is_joined and place > start:
                yield self.words[start:place]
                start = place
        if self.words:
            yield self.words[start:]

    def is_label(self) -> bool:
        """True if the text can be a label: a few words, and neither a sentence nor a list.

        >>> texts = "Privacy policy:", "It rains.", "Page 12", "Home | News", "Help Help"
        >>> [TermText(text, "en").is_label() for text in texts]
        [True, False, False, False, False]
        """
        return (
            len(self.text) <= _MAX_LABEL_LETTERS
            and 0 < len(self.words) <= MAX_LONGER_LABEL
            and all(map(_is_word, self.words))
            and all(_LABEL_JOINT.fullmatch(gap) for gap in self.gaps[1:])
            and not _SENTENCE_END.search(self.text)
            and not _is_doubled(self.words)
            and not any(_is_glued(self.text[start:end]) for _, start, end in self.tokens)
        )

    def sentence(self, log_odds: Mapping[str, float]) -> Sentence:
        """The sentence for phrase extraction; `log_odds` are those of being a function word."""
        is_content = [
            _is_word(word) and log_odds.get(word, 0.0) <= MAX_LOG_ODDS for word in self.words
        ]
        is_tied = [place > 0 and gap in _TIES for place, gap in enumerate(self.gaps)]
        for place, gap in enumerate(self.gaps):
            if is_tied[place]:  # COVID-19, well-being
                is_content[place] |= is_content[place - 1]
            elif place > 0 and _IN_ADDRESS.search(gap):
                is_content[place - 1] = is_content[place] = False
        for place in range(len(is_content) - 1, 0, -1):
            if is_tied[place]:
                is_content[place - 1] |= is_content[place]
        return Sentence(is_content, is_tied, self.is_joined)

    def phrases(self, first: Container[str]) -> Iterator[tuple[Words, Span]]:
        """All phrases that begin with one of some words."""
        words, is_joined = self.words, self.is_joined
        for start, word in enumerate(words):
            if word not in first:
                continue
            for end in range(start + 1, min(start + MAX_WORDS, len(words)) + 1):
                if end > start + 1 and not is_joined[end - 1]:
                    break
                yield words[start:end], Span(start, end)

    def surface(self, span: Span) -> str:
        """The text of a span of words, as it stands.

        >>> TermText("La marée, l’été", "fr").surface(Span(2, 4))
        'l’été'
        """
        return self.text[self.tokens[span.start].start : self.tokens[span.end - 1].end]

    @cached_property
    def is_running(self) -> bool:
        """True if the text is probably a sentence whose words have their usual case."""
        count = len(self.tokens)
        capitals = sum(self.text[start].isupper() for _, start, _ in self.tokens)
        return count >= _RUNNING_WORDS and capitals <= _MAX_CAPITALISED * count


def _is_word(word: str) -> bool:
    """True if a token is a word, not a number or an address.

    >>> list(map(_is_word, ("naïve", "mp3", "2nd", "example.org")))
    [True, True, False, False]
    """
    return not word[0].isdigit() and "." not in word and "_" not in word


def _is_doubled(words: Words) -> bool:
    """True if the same words stand there twice, as in a menu with one text for each screen size."""
    half = len(words) // 2
    return half > 0 and words[:half] == words[half:]


def _is_glued(word: str) -> bool:
    """True if a word is several words without a space between them: with two capitals inside.

    A capital after a letter that has no case is enough.

    >>> list(map(_is_glued, ("YouTube", "DanskDanskReview", "हिन्दीReview", "USA")))
    [False, True, True, False]
    """
    inside = 0
    for before, letter in pairwise(word):
        if letter.isupper() and not before.isupper() and category(before)[0] in "LM":
            inside += 1 if before.islower() else 2
    return inside >= 2
