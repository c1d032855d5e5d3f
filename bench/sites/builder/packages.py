"""Packages of Debian: downloaded by apt-get, unpacked, and searched for pages."""

from __future__ import annotations

import os
import re
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

from bench.sites.builder.families import Family
from bench.support.processes import give_up, last_line

__all__ = ["page_files"]

_LISTS = Path("/var/lib/apt/lists")
_PAGE = re.compile(r"\.(x?html?|shtml)(\.[A-Za-z_@-]{2,8})?(\.gz)?$", re.I)
_UNUSED = re.compile(
    r"\.(png|jpe?g|gif|svgz?|pdf|ogg|wav|flac|mp[34]|so(\.[\d.]+)?|mo|ttf|otf|eps|ps|midi?|sce|zcos"
    r"|ly)$"
)
"""pictures, sound and programs: most of a package, and nothing that a crawl reads"""
_MOST_LINKS = 8  # symbolic links that are followed one after the other


def page_files(family: Family, work: Path) -> dict[str, Path]:
    """Path of each page as it is shipped -> its file below the work folder."""
    roots = [_unpacked(package, work) for package in family.packages]
    if family.is_archive:
        found = _archived_pages(family, roots, work / "stage" / family.name)
    else:
        found = (each for root in roots for each in _shipped_pages(root, family.folder, roots))
    files: dict[str, Path] = {}
    for path, file in found:
        files.setdefault(path, file)
    return files


def _unpacked(package: str, work: Path) -> Path:
    """The folder of an unpacked package, which is downloaded if need be."""
    folder = work / "raw" / package
    if folder.is_dir() and any(folder.iterdir()):
        return folder
    archive = _downloaded(package, work / "debs")
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["dpkg", "-x", str(archive), str(folder)], check=True)
    for file in list(folder.rglob("*")):
        if _UNUSED.search(file.name) and (file.is_symlink() or not file.is_dir()):
            file.unlink()
    return folder


def _downloaded(package: str, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if not (known := sorted(folder.glob(f"{package}_*.deb"))):
        if not any("_Packages" in file.name for file in _LISTS.glob("*")):
            subprocess.run(["apt-get", "-q", "update"], check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run(
            ["apt-get", "-q", "download", package],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        known = sorted(folder.glob(f"{package}_*.deb"))
        if done.returncode or not known:
            give_up(f"cannot download {package}: {last_line(done.stderr)}")
    return known[0]


def _shipped_pages(root: Path, below: str, roots: list[Path]) -> Iterator[tuple[str, Path]]:
    """Pages that are files of a package, or lie in a folder that one of its links leads to."""
    base = root / below
    for folder, names, files in os.walk(base):
        here = Path(folder)
        for name in sorted(filter(_PAGE.search, files)):
            if (file := _followed(here / name, roots)) is not None:
                yield (here / name).relative_to(base).as_posix().removesuffix(".gz"), file
        for name in sorted(names):
            target = (here / name).resolve()
            if (here / name).is_symlink() and target.is_dir() and target.is_relative_to(root):
                for file in sorted(target.rglob("*")):
                    if _PAGE.search(file.name) and not file.is_dir():
                        path = here / name / file.relative_to(target)
                        yield path.relative_to(base).as_posix(), file
        names.sort()


def _followed(path: Path, roots: list[Path], hops: int = 0) -> Path | None:
    """The file behind symbolic links, of which absolute ones lead into one of the packages."""
    if not path.is_symlink() or hops > _MOST_LINKS:
        return path if path.is_file() else None
    target = path.readlink()
    if not target.is_absolute():
        return _followed(Path(os.path.normpath(path.parent / target)), roots, hops + 1)
    for root in roots:
        inside = root / target.relative_to("/")
        if os.path.lexists(inside):
            return _followed(inside, roots, hops + 1)
    return None


def _archived_pages(family: Family, roots: list[Path], stage: Path) -> Iterator[tuple[str, Path]]:
    """Pages of help archives, unpacked once."""
    done = stage / ".done"
    if not done.exists():
        for file in (each for root in roots for each in (root / family.folder).rglob("*_help.jar")):
            with zipfile.ZipFile(file) as archive:
                pages = [name for name in archive.namelist() if name.endswith(".html")]
                archive.extractall(stage, pages)
        done.touch()
    for file in sorted(stage.rglob("*")):
        if _PAGE.search(file.name):
            yield file.relative_to(stage).as_posix(), file
