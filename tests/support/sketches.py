"""Sketches of made pages, word by word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import count
from random import Random

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.types import Sketch

_HASHES = count(1_000_000)  # every page says what it says in a block of its own
WORDS = {
    "en": (
        "and lamp tower keeper storm winter island harbour signal rescue stairs glass engine wave"
        " anchor rope night fisherman coast oil window book museum summer"
    ).split(),
    "fr": (
        "et feu phare garde orage hiver ile quai alarme sauver marche verre moteur onde ancre corde"
        " nuit pecheur rivage huile fenetre livre musee soleil"
    ).split(),
    "de": (
        "und leuchte turm waerter sturm kaelte insel hafen zeichen retten treppe scheibe motor"
        " welle anker seil nacht fischer kueste oel fenster buch museum sommer"
    ).split(),
}

for _lang, _words in WORDS.items():  # and rarer ones, that nobody has to understand
    _chance = Random(_lang)
    _words += ["".join(_chance.choices("bdfgklmnprst", k=5)) for _ in range(300)]


def known(
    words: str | Mapping[str, int],
    *files: str,
    blocks: tuple[tuple[int, float], ...] = (),
    tags: str = "",
    block: int = 0,
) -> Sketch:
    """A page of some words, all in one block without a length; words with a point are files.

    `blocks` are others, without words: their hashes and lengths.  `block` is the hash of that with
    the words, where it is not to be the page's own.
    """
    listed = words.split() if isinstance(words, str) else list(Counter(words).elements())
    named = sorted({*files, *(word for word in listed if "." in word)})
    bag = Counter(word for word in listed if "." not in word)
    place = {word: number for number, word in enumerate(bag)}
    own = tuple(place[word] for word in listed if word in place)
    first = ((block or next(_HASHES), 0.0),) if own else ()
    return Sketch(
        tags=tags, words=bag.total(), bag=bag, files=tuple(named), blocks=(*first, *blocks),
        block_words=(*((own,) if own else ()), *((),) * len(blocks)),
    )  # fmt: skip


def article(lang: str, topic: int, *, size: int = 6, files: tuple[str, ...] = ()) -> Sketch:
    """A page about something, the same in any language: a few paragraphs with numbers in them."""
    chance = Random(topic)
    bag: Counter[str] = Counter()
    blocks: list[tuple[int, float]] = []
    spelled: list[list[str]] = []
    for _ in range(size):
        places = [*chance.choices(range(24), k=4), *chance.choices(range(24, 324), k=10)]
        stems = [WORDS[lang][place][:5] for place in places]
        stems += [str(chance.randrange(10, 5_000)), WORDS[lang][0][:5]]
        bag.update(stems)
        spelled.append(stems)
        blocks.append((next(_HASHES), chance.uniform(90, 120)))
    place = {word: number for number, word in enumerate(bag)}
    tags = "".join(chance.choices("abcd", k=size)) + "pq" * size
    return Sketch(
        tags=tags, words=bag.total(), bag=bag, files=files, blocks=tuple(blocks),
        block_words=tuple(tuple(place[word] for word in words) for words in spelled),
    )  # fmt: skip


def dictionary(left: str, right: str) -> Lexicon:
    """What the words of articles mean in another language."""
    links = ((one, other, 1.0) for one, other in zip(WORDS[left], WORDS[right], strict=True))
    return Lexicon.of_links(left, right, links)
