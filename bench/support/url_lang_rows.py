"""The labelled URLs on which the language model is trained and measured."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.support.paths import SHARED
from bench.support.processes import give_up
from diptych.language.codes import primary
from diptych.learn.url.data import UNKNOWN, LabelledUrl, open_bytes, read_urls

DERIVED_WEIGHT = 20.0  # of all derived URLs of a language together
MIN_DOMAINS = 8  # of a language beyond the paper's that gets derived URLs
DEFAULT = SHARED / "data"
_ESCAPED = re.compile("%[89A-F]")
NAMES = ("url_languages", "url_languages_conflict", "url_pairs", "url_pairs_judged")
# What CLD2 tells apart, as `language.codes.primary` writes it: the languages of the paper.
PAPER = (
    "aa ab af ak am ar as ay az ba be bg bho bi bn bo br bs ca ceb chr co crs cs cy da de dv dz el"
    " en eo es et eu fa fi fil fj fo fr fy ga gaa gd gl gn gu gv ha haw he hi hmn hr ht hu hy ia id"
    " ie ig ik is it iu ja jv ka kha kk kl km kn ko kri ks ku ky la lb lg lif ln lo loz lt lua luo"
    " lv mfe mg mi mk ml mn mr ms mt my na ne new nl nn no nr nso ny oc om or os pa pam pl ps pt qu"
    " raj rm rn ro ru rw sa sco sd sg si sk sl sm sn so sq sr ss st su sv sw syr ta te tg th ti tk"
    " tlh tn to tr ts tt tum ug uk ur uz ve vi vo war wo xh yi yo za zh zu"
).split()


class Rows(NamedTuple):
    """Labelled URLs by their purpose."""

    main: list[LabelledUrl]
    conflict: list[LabelledUrl]
    """URLs whose own mark contradicts their language"""
    pairs: list[LabelledUrl]
    """URLs of the pair files that are not in the others: for training only"""


def read(folder: Path) -> Rows:
    """Read all labelled URLs without duplicates."""
    missing = [name for name in NAMES if not (folder / f"{name}.tsv.gz").is_file()]
    if missing:
        give_up(f"no {', '.join(missing)} (.tsv.gz) in {folder}; give the folder with --data")
    main = list(dict.fromkeys(read_urls(folder / "url_languages.tsv.gz")))
    conflict = list(dict.fromkeys(read_urls(folder / "url_languages_conflict.tsv.gz")))
    known = {row.url for row in (*main, *conflict)}
    pairs = {
        row.url: row
        for name in NAMES[2:]
        for row in _sides(folder / f"{name}.tsv.gz")
        if row.url not in known
    }
    return Rows(main, conflict, list(pairs.values()))


def _sides(path: Path) -> Iterator[LabelledUrl]:
    """Both URLs of each pair, except pairs that a person found to be in a wrong language (L)."""
    with open_bytes(path) as stream:
        for line in io.TextIOWrapper(stream, "utf-8", newline="\n"):
            domain, url_a, lang_a, url_b, lang_b, judged, *_ = line.rstrip("\n").split("\t")
            if "L" not in judged.split("+"):
                yield LabelledUrl(domain, url_a, primary(lang_a) or UNKNOWN)
                yield LabelledUrl(domain, url_b, primary(lang_b) or UNKNOWN)


def read_derived(path: Path, real: list[LabelledUrl]) -> list[LabelledUrl]:
    """Read derived URLs of the paper's languages and others with examples, with low weight."""
    domains = Counter(lang for lang, _ in {(row.lang, row.domain) for row in real})
    wanted = {*PAPER, *(lang for lang, number in domains.items() if number >= MIN_DOMAINS)}
    rows = [row for row in read_urls(path) if row.lang in wanted]
    total = Counter(row.lang for row in rows)
    return [row._replace(weight=_weight(row.url, total[row.lang])) for row in rows]


def _weight(url: str, number: int) -> float:
    """The weight of one of several rows; those in rare scripts of their own weigh more."""
    weight = DERIVED_WEIGHT / number
    is_ascii = url.isascii() and not _ESCAPED.search(url)
    return weight if is_ascii else min(0.2, 4 * weight)
