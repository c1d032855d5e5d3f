"""Step: write corpus.tsv, corpus.tmx, n-way.tsv and pairs.tsv (its columns are here)."""

from __future__ import annotations

from diptych.corpus.from_run import NWayCorpus, RunCorpus, write_corpus
from diptych.errors import StoreError
from diptych.files import replace_file
from diptych.protocols import Watcher
from diptych.registry import exporter
from diptych.run.store import Store

CORPUS_FORMATS = ("tsv", "tmx")
PAIRS_HEADER = "left_url\tright_url\tleft_lang\tright_lang\tscore\tevidence\n"


def write_run_corpus(store: Store, corpus: RunCorpus, watcher: Watcher) -> None:
    """Write the corpus and the list of pairs into the run folder."""
    watcher.stage = "exporting"
    for name in CORPUS_FORMATS:
        write_corpus(corpus, exporter(name), store.folder / f"corpus.{name}")
    if len(corpus.langs) > 2:
        table = exporter("tsv", n_way=True)
        write_corpus(NWayCorpus(corpus), table, store.folder / "n-way.tsv")
    lines = [PAIRS_HEADER]
    for site, _ in store.sites():
        for _, pair in store.verified_pairs(site):
            lines.append(
                f"{pair.left}\t{pair.right}\t{pair.left_lang}\t{pair.right_lang}"
                f"\t{pair.score:.3f}\t{pair.evidence}\n"
            )
    replace_file(store.folder / "pairs.tsv", "".join(lines).encode(), error=StoreError)
