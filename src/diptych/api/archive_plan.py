"""The plan that all tasks of a job on archives share: options and folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from diptych.api.tasks import digest_of

if TYPE_CHECKING:
    from diptych.api.mine import MineOptions
    from diptych.types import LangPair


@dataclass(frozen=True, slots=True)
class ArchivePlan:
    """The options and folders that all tasks of a job on archives use."""

    job: Path
    """folder of the job, which all machines share"""
    asked: MineOptions
    """options, with absolute paths"""
    seeds: tuple[str, ...]
    """sites to which the job is limited, if any"""
    partitions: int
    """number of partitions"""

    @property
    def pages(self) -> Path:
        """Folder of the parsed pages."""
        return self.job / "pages"

    @property
    def warc(self) -> Path:
        """Folder of the records copied from remote archives."""
        return self.job / "warc"

    @property
    def words(self) -> Path:
        """Folder of the samples and of the lexicons."""
        return self.job / "words"

    def lexicon(self, langs: LangPair) -> Path:
        """The file of the lexicon for a language pair; it is empty if nothing could be learned."""
        return self.words / f"{'-'.join(langs)}.lexicon"

    @property
    def digest(self) -> str:
        """A digest of the options that change the results, but for the terms of the job."""
        return digest_of(self.asked.limits(), self.asked.keep_templates)
