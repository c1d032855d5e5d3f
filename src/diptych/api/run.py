"""Python access to a run: its summary, pages, pairs, segments, exports and explanations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from diptych.api.arguments import texts
from diptych.api.documents import Document, document_of, utc_time
from diptych.api.export import CorpusChoice, Exported, ExportOptions, chosen_corpus, export_run
from diptych.api.export import terms_of as terms_of_corpus
from diptych.api.languages import as_text
from diptych.errors import ConfigError

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from diptych.api.check import Checked
    from diptych.api.mine import Cancel
    from diptych.corpus.terms import Term
    from diptych.protocols import Corpus
    from diptych.reports.progress import Progress
    from diptych.reports.summary import Summary
    from diptych.run.store import Store
    from diptych.run.terms import Terms
    from diptych.units import Unit


class Segment(NamedTuple):
    """A line of the corpus: two texts that are translations of each other.

    The fields are the columns of `corpus.tsv`.
    """

    left: str
    """text in the first language"""
    right: str
    """text in the second language"""
    score: float
    """probability that the texts are good translations of each other"""
    left_url: str
    """URL of the page with the left text"""
    right_url: str
    """URL of the page with the right text"""
    id: str
    """hash of the texts, languages and URLs; the same in every run"""
    left_lang: str
    """language code"""
    right_lang: str
    left_path: str
    """DOM paths of the blocks that contain the text, separated by spaces"""
    right_path: str
    left_at: str
    """character ranges within these blocks, such as `0-54 0-12`"""
    right_at: str
    left_fetched: datetime
    """time of the download"""
    right_fetched: datetime
    left_digest: str
    """digest of the body of the page"""
    right_digest: str
    left_warc: str
    """WARC file that holds the page"""
    right_warc: str
    left_offset: int
    """offset of the page's record in the WARC file"""
    right_offset: int
    alignment: float
    """confidence of the sentence alignment"""
    verified: float
    """score of the verifier for the two pages"""
    evidence: str
    """kinds of evidence for the page pair, joined by +"""
    flags: tuple[str, ...]
    """facts about the pages and the texts, such as `noai` or `email`"""
    copies: int
    """number of occurrences, including near-duplicates"""
    run: str
    """signature of the run"""
    first_seen: datetime
    """time of the mining or update that first found it"""
    last_seen: datetime
    """last time when its pages were known to have it"""


class Pair(NamedTuple):
    """Two pages that were verified to be translations of each other."""

    left_url: str
    """URL of the page in the first language"""
    right_url: str
    """URL of the page in the second language"""
    left_lang: str
    """language code"""
    right_lang: str
    score: float
    """probability that the pages are a pair, from all evidence"""
    evidence: str
    """kinds of evidence, joined by +"""


class PageInfo(NamedTuple):
    """A page that was fetched and read."""

    url: str
    """URL after redirects"""
    lang: str
    """language of the text; empty if it could not be identified"""
    title: str
    """title of the page"""
    fetched: datetime
    """time of the download"""
    text_length: int
    """length of the text in characters"""
    size: int
    """size of the body in bytes"""
    flags: tuple[str, ...]
    """facts about the page: licence, robots rules, machine translation, text from scripts"""


@dataclass(frozen=True)
class Run:
    """A run folder, with everything that was fetched, paired and aligned.

    You can read the run while another process is still mining into it: every method reads the
    current state of the folder.
    """

    folder: Path
    """the run folder"""
    notes: tuple[str, ...] = ()
    """notes from mining, for the user; empty if the run was opened with `diptych.open`"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder))

    @property
    def langs(self) -> tuple[str, ...]:
        """The requested languages."""
        return self._terms().langs

    @property
    def summary(self) -> Summary:
        """The figures of the run: downloads, pages, pairs, segments, and reasons for rejection.

        >>> run.summary.pairs, run.summary.segments
        (16, 427)
        """
        from diptych.reports.summary import summarise

        with self._store() as store:
            return summarise(store, self.langs)

    def pages(self) -> Iterator[PageInfo]:
        """The pages that were fetched, site by site.

        >>> [page.title for page in run.pages() if page.url.endswith("/fr/")]
        ['Deux rives']
        """
        with self._store() as store:
            for site, _ in store.sites():
                for page in store.records(site):
                    yield PageInfo(
                        page.url, page.lang, page.title, utc_time(page.fetched_at),
                        page.text_length, page.size, page.flags,
                    )  # fmt: skip

    def pairs(self) -> Iterator[Pair]:
        """The page pairs that were verified, as in `pairs.tsv`.

        >>> pair = next(run.pairs())
        >>> pair.left_lang, pair.right_lang
        ('en', 'fr')
        """
        with self._store() as store:
            for site, _ in store.sites():
                for _, pair in store.verified_pairs(site):
                    yield Pair(
                        pair.left, pair.right, pair.left_lang, pair.right_lang, pair.score,
                        pair.evidence,
                    )  # fmt: skip

    def segments(
        self,
        *,
        min_score: float | None = None,
        without: str | Sequence[str] = (),
        redact: bool = False,
        keep_templates: bool = False,
    ) -> Iterator[Segment]:
        """The segments of the corpus, the same ones that `export` writes.

        `min_score` replaces the threshold of the run; `without` names flags whose segments are left
        out; `redact` replaces personal data with placeholders such as [EMAIL]; `keep_templates`
        includes all segments that differ only in a word, name or number.

        >>> short = [segment for segment in run.segments(min_score=0.9) if len(segment.left) < 9]
        >>> [(segment.left, segment.right) for segment in short[:2]]
        [('Towers', 'Des tours'), ('Year', 'Année')]
        """
        choice = CorpusChoice.of(min_score, without, redact=redact, keep_templates=keep_templates)
        choice.require_valid()
        return self._made(choice, lambda corpus: map(_segment, corpus.units()))

    def documents(
        self,
        *,
        min_score: float | None = None,
        without: str | Sequence[str] = (),
        redact: bool = False,
        keep_templates: bool = False,
    ) -> Iterator[Document]:
        """The page pairs with the whole text of both pages, as in the format docs.

        The arguments are those of `segments`; `min_score` decides which segments are accepted, and
        `without` takes only flags of pages.

        >>> document = next(run.documents())
        >>> [block.text for block in document.right.blocks if block.kind == "heading"][:2]
        ['Deux rives : les phares et la mer', 'Des tours']
        >>> document.left.markdown("main").splitlines()[0]
        '# Two Shores: lighthouses and the sea'
        """
        choice = CorpusChoice.of(min_score, without, redact=redact, keep_templates=keep_templates)
        choice.require_valid()
        choice.require_page_flags()
        return self._made(choice, lambda corpus: map(document_of, corpus.documents()))

    def terms(
        self,
        *,
        langs: str | Sequence[str] | None = None,
        min_count: int = 2,
        max_terms: int = 1000,
        names: bool = False,
    ) -> list[Term]:
        """The terms of the site with their translations, the most useful first.

        Terms are short labels, such as menu items and headings, and expressions that sentences
        translate in the same way again and again.  `langs` selects languages of the run;
        `min_count` is the minimum number of occurrences; `names` includes terms that are the same
        in both languages.

        >>> [(term.left, term.right) for term in run.terms(max_terms=2)]
        [('keepers', 'gardiens'), ('tides', 'marées')]
        """
        from diptych.api.terms import TermsOptions, run_terms

        chosen = None if langs is None else as_text(langs)
        options = TermsOptions(
            run=self.folder, langs=chosen, min_count=min_count, max_terms=max_terms, names=names
        )
        return run_terms(options)

    def export(
        self,
        path: str | Path,
        *,
        format: str | None = None,
        min_score: float | None = None,
        without: str | Sequence[str] = (),
        redact: bool = False,
        keep_templates: bool = False,
        n_way: bool = False,
        markdown: bool = False,
        max_lines: int | None = None,
        since: str | None = None,
        vanished: bool = False,
        safe_cells: bool = False,
    ) -> Exported:
        """Write the corpus to a file, and return the number of lines and the files written.

        The formats are tsv, tmx, jsonl, parquet, moses, docs and standoff; the default is inferred
        from the file name.  A file whose name ends in .gz or .zst is compressed.
        `markdown` adds the texts of the pages to the format docs.  With `max_lines`, `path` becomes
        a folder of numbered files that have at most this number of lines.  `since` is a date: only
        segments first found then or later are written.  `vanished` writes the segments that updates
        no longer found.  `safe_cells` writes an apostrophe before texts in the format tsv that a
        spreadsheet would take for a formula.

        >>> run.export(folder / "corpus.tmx", min_score=0.9).lines
        393
        """
        options = ExportOptions(
            run=self.folder, out=Path(path), format=format, min_score=min_score,
            without=",".join(texts(without)), redact=redact,
            keep_templates=keep_templates, n_way=n_way, markdown=markdown, max_lines=max_lines,
            since=since, vanished=vanished, safe_cells=safe_cells,
        )  # fmt: skip
        if str(path) == "-":
            raise ConfigError("specify a file to write the corpus to")
        return self._export(options)

    def update(
        self, *, progress: bool | Callable[[Progress], None] = False, cancel: Cancel | None = None,
        **options: Any,
    ) -> Run:  # fmt: skip
        """Visit the pages of the run again, and mine those that have changed.

        The same call continues an interrupted update.  `options` are those of `diptych update`; see
        [Commands](cli.md#update).  `progress` and `cancel` are described in `diptych.mine`.
        """
        notes: tuple[str, ...] = self._updating()(self.folder, options, progress, cancel)
        return replace(self, notes=notes)

    def to_arrow(self, *, min_score: float | None = None) -> pyarrow.Table:
        """The corpus as a pyarrow table with the columns of `corpus.tsv`.

        >>> run.to_arrow().num_rows
        427
        """
        from diptych.stages.export.parquet import arrow_table

        with self._corpus(CorpusChoice.of(min_score)) as corpus:
            return arrow_table(corpus.units())

    def to_pandas(self, *, min_score: float | None = None) -> pandas.DataFrame:
        """The corpus as a pandas data frame with the columns of `corpus.tsv`.

        >>> run.to_pandas().shape
        (427, 28)
        """
        from diptych.learn.libraries import require_libraries

        require_libraries(("pandas", "pyarrow"), "a pandas data frame")
        return self.to_arrow(min_score=min_score).to_pandas()

    def explain(self, *urls: str) -> str:
        """Explain what is known about one URL or two; without a URL, list all rejected pairs.

        >>> print(run.explain().splitlines()[0])
        rejected pairs:
        """
        from diptych.reports.explain import explain

        with self._store() as store:
            return explain(store, urls)

    def check(self) -> Checked:
        """Check that the database, the archives, the pages and the segments are intact.

        >>> run.check().counts
        Counter()
        """
        from diptych.api.check import check_folder
        from diptych.protocols import Watcher

        return check_folder(self.folder, Watcher())

    def _repr_html_(self) -> str:
        """HTML for notebooks: the number of items after each step, and a sample of the segments."""
        from diptych.reports.notebook import run_as_html

        with self._store() as store:
            return run_as_html(store, self._terms())

    def _export(self, options: ExportOptions) -> Exported:
        return export_run(options)

    def _terms(self) -> Terms:
        return terms_of_corpus(self.folder)

    @contextmanager
    def _store(self) -> Iterator[Store]:
        """The store as a snapshot: later changes are not visible."""
        from diptych.run.store import Store

        self._terms()
        with Store(self.folder, write=False) as store, store.snapshot():
            yield store

    def _updating(self) -> Callable[..., tuple[str, ...]]:
        # By name, because `api.update` builds on `api.mine`, which returns a run.
        from_module = import_module("diptych.api.update")
        return cast("Callable[..., tuple[str, ...]]", from_module.update_in_python)

    @contextmanager
    def _corpus(self, choice: CorpusChoice) -> Iterator[Corpus]:
        with self._store() as store:
            yield chosen_corpus(store, self._terms(), choice)

    def _made(self, choice: CorpusChoice, make: Callable[[Corpus], Any]) -> Iterator[Any]:
        with self._corpus(choice) as corpus:
            yield from make(corpus)


def _segment(unit: Unit) -> Segment:
    from diptych.stages.export.shared.columns import pair_row

    left, right = unit.sides
    return Segment(*cast("tuple[Any, ...]", pair_row(unit)))._replace(
        left_fetched=utc_time(left.fetched_at), right_fetched=utc_time(right.fetched_at),
        flags=unit.flags, first_seen=utc_time(unit.first_seen), last_seen=utc_time(unit.last_seen),
    )  # fmt: skip
