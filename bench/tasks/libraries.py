"""Telephone numbers and broken characters: the rules of Diptych compared with libraries.

    python -m bench.tasks.libraries [--sites DIR] [--other DIR] [--out bench/results/libraries.json]

Texts are the distinct blocks of the real sites.  `libraries_truth.tsv` states which of the numbers
that any finder reports are telephone numbers, and which texts are broken.  A person read all of
them; only hashes of the texts are kept.  Recall is relative to all correct numbers that any finder
reports.  Broken texts are also generated: intact texts are decoded in a wrong encoding and then
cleaned like a page.  Message catalogues of programs show false alarms in many more languages.
"""

from __future__ import annotations

import argparse
import gettext
import importlib.util
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, NamedTuple

from bench.support.machine import machine
from bench.support.paths import RESULTS, SHARED
from bench.support.processes import give_up
from bench.support.tables import Tables, percent, show
from diptych._version import VERSION
from diptych.corpus.personal_data import _PLAIN
from diptych.corpus.telephones import telephones
from diptych.page.elements import visible
from diptych.page.read import read_content
from diptych.stages.filter.shared.mojibake import damage
from diptych.types import Response, Url

TRUTH = Path(__file__).parent / "libraries_truth.tsv"
CATALOGUES = Path("/usr/share/locale")
LEAST_DIGITS = 6
SAMPLE = 200  # texts of each language that are broken
MESSAGES = 200_000  # of programs
SIZES = range(20, 301)  # characters of a text that is broken
BROKEN = 1  # damage beyond which a text is thrown away
REGIONS = {
    "en": "US", "fr": "FR", "de": "DE", "es": "ES", "it": "IT", "ca": "ES", "eu": "ES", "pt": "PT",
    "ru": "RU", "kk": "KZ", "uz": "UZ", "ro": "RO", "sl": "SI", "sr": "RS", "hu": "HU", "ja": "JP",
    "ar": "EG", "fa": "IR", "tr": "TR", "vi": "VN", "sw": "KE", "my": "MM", "zh-cn": "CN",
}  # fmt: skip
"""countries by language, which is all that a run knows"""
COUNTRIES = {
    "0cch": "CN", "agnieszka": "SI", "barippi": "JP", "beeware": "AU", "bioforce": "FR",
    "breakpoverty": "FR", "cctn": "IT", "decarbo": "FR", "frc3405": "US", "ftmo": "CZ",
    "gndem": "US", "hasuolab": "JP", "laugar": "ES", "linuxbcn": "ES", "maple": "CA",
    "marcbusque": "ES", "mtera": "SI", "oa-datenpraxis": "DE", "ooni": "IT", "opengis": "CH",
    "promigas": "CO", "schorisch": "DE", "sdg-kz": "KZ", "sdg-moldova": "MD", "sensorlab": "SI",
    "sofastack": "CN", "tanaka-lab": "JP", "toscanapirata": "IT", "tri-tav": "SI", "unisat": "UZ",
    "urumeaberri": "ES", "zika-govlab": "BR",
}  # fmt: skip
"""countries of the sites' owners, which a run does not know"""
WRONG_READINGS = (
    "sloppy-windows-1252", "cp1252", "sloppy-windows-1250", "sloppy-windows-1251", "iso8859-2",
    "mac_roman", "cp437", "cp1253", "gbk", "shift_jis",
)  # fmt: skip

Span = tuple[int, int]


class Text(NamedTuple):
    """A text of a real site, with the language of the first page that contains it."""

    text: str
    site: str
    lang: str


Finder = Callable[[Text], Sequence[Span]]
Detector = Callable[[str], bool]


def key(text: str) -> str:
    """The hash that represents a text in the truth."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def read_texts(archive: Path) -> list[Text]:
    """The distinct blocks of all pages of the real sites."""
    found: dict[str, Text] = {}
    with tempfile.TemporaryDirectory() as folder:
        unpacked = subprocess.Popen(["zstd", "-dc", str(archive)], stdout=subprocess.PIPE)
        subprocess.run(["tar", "x", "-C", folder], stdin=unpacked.stdout, check=True)
        if unpacked.wait():
            give_up(f"{archive} cannot be unpacked")
        for site in sorted((Path(folder) / "dev").iterdir()):
            rows = [row.split("\t") for row in (site / "groups.tsv").read_text().splitlines()]
            langs = {path: lang for _, lang, path, *_ in rows}
            for file in sorted((site / "htdocs").rglob("*.htm*")):
                if not file.is_file():
                    continue
                path = f"/{file.relative_to(site / 'htdocs')}"
                lang = langs.get(path) or langs.get(path.removesuffix("index.html")) or ""
                for text in _blocks(path, file.read_bytes()):
                    found.setdefault(text, Text(text, site.name, lang))
    return list(found.values())


def _blocks(path: str, body: bytes) -> Iterator[str]:
    headers = (("content-type", "text/html"),)
    blocks, _ = read_content(Response(Url(f"http://x.org{path}"), 200, headers, body, 0.0))
    return (block.text for block in blocks)


def read_truth() -> tuple[dict[str, dict[Span, bool]], dict[str, bool]]:
    """Read the truth: which numbers in texts are telephone numbers, and which texts are broken."""
    numbers: dict[str, dict[Span, bool]] = defaultdict(dict)
    broken = {}
    for line in TRUTH.read_text("utf-8").splitlines()[1:]:
        kind, text, start, end, is_right = line.split("\t")
        if kind == "phone":
            numbers[text][int(start), int(end)] = is_right == "1"
        else:
            broken[text] = is_right == "1"
    return numbers, broken


# Telephones


def finders(others: Mapping[str, Any]) -> dict[str, Finder]:
    """Diptych's rules, those of another version if given, and the library with several settings."""
    from phonenumbers import Leniency

    found: dict[str, Finder] = {"ours": _by_rules(telephones)}
    if "telephones" in others:
        found["ours, other version"] = _by_rules(others["telephones"].telephones)
    regions: dict[str, Callable[[Text], str | None]] = {
        "no region": lambda text: None,
        "region by language": lambda text: REGIONS.get(text.lang),
        "region by site": lambda text: COUNTRIES.get(text.site),
    }
    levels = {"valid": Leniency.VALID, "strict grouping": Leniency.STRICT_GROUPING}
    for name, region in regions.items():
        for level, leniency in levels.items():
            found[f"phonenumbers, {name}, {level}"] = _by_library(region, leniency)
    return found


def _by_rules(rules: Callable[[str], Iterator[Span]]) -> Finder:
    return lambda text: list(rules(text.text.translate(_PLAIN)))


def _by_library(region: Callable[[Text], str | None], leniency: Any) -> Finder:
    from phonenumbers import PhoneNumberMatcher

    return lambda text: [
        (match.start, match.end)
        for match in PhoneNumberMatcher(text.text, region(text), leniency=leniency, max_tries=10**6)
    ]


def telephone_rows(
    texts: Sequence[Text], truth: Mapping[str, Mapping[Span, bool]], ways: Mapping[str, Finder]
) -> list[dict[str, Any]]:
    """The results of each finder on the texts with enough digits."""
    some = [text for text in texts if sum(map(str.isdecimal, text.text)) >= LEAST_DIGITS]
    judged = {text: truth.get(key(text.text), {}) for text in some}
    all_right = sum(is_right for spans in judged.values() for is_right in spans.values())
    rows = []
    for name, find in ways.items():
        started = time.process_time()
        found = [(text, spans) for text in some if (spans := find(text))]
        seconds = time.process_time() - started
        counts = Counter(
            verdict for text, spans in found for verdict in _verdicts(spans, judged[text])
        )
        right, wrong = counts[True], counts[False]
        rows.append(
            {
                "telephones": name,
                "right": right,
                "wrong": wrong,
                "not judged": counts[None],
                "precision %": percent(right / max(right + wrong, 1)),
                "recall %": percent(right / max(all_right, 1)),
                "F1 %": percent(2 * right / max(right + wrong + all_right, 1)),
                "us a text": round(seconds / len(some) * 1e6, 1),
            }
        )
    return rows


def _verdicts(spans: Sequence[Span], judged: Mapping[Span, bool]) -> list[bool | None]:
    """The verdict on each number found; None for a number that was not judged."""
    met = {other: is_right for other, is_right in judged.items() if _meets(other, spans)}
    strangers = [span for span in spans if not _meets(span, list(judged))]
    return [*met.values(), *[None for _ in strangers]]


def _meets(span: Span, others: Sequence[Span]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def example_rows(ways: Mapping[str, Finder]) -> list[dict[str, Any]]:
    """Results on example numbers of all countries, which the library provides."""
    import phonenumbers
    from phonenumbers import PhoneNumberFormat, PhoneNumberType

    kinds = (PhoneNumberType.FIXED_LINE, PhoneNumberType.MOBILE)
    numbers = [
        number
        for region in sorted(phonenumbers.SUPPORTED_REGIONS)
        for kind in kinds
        if (number := phonenumbers.example_number_for_type(region, kind))
    ]
    formats = {
        "+49 30 123456": (PhoneNumberFormat.INTERNATIONAL, "{}"),
        "Tel. 030 123456": (PhoneNumberFormat.NATIONAL, "Tel. {}"),
        "030 123456": (PhoneNumberFormat.NATIONAL, "{}"),
    }
    rows = []
    for name, find in ways.items():
        row: dict[str, Any] = {f"{len(numbers)} examples": name}
        for title, (style, pattern) in formats.items():
            made = [pattern.format(phonenumbers.format_number(each, style)) for each in numbers]
            row[f"{title} %"] = percent(
                sum(bool(find(Text(text, "", ""))) for text in made) / len(made)
            )
        rows.append(row)
    return rows


# Broken characters


def detectors(others: Mapping[str, Any]) -> dict[str, Detector]:
    """Diptych's rule, that of another version if given, and the library with two settings."""
    from ftfy import fix_encoding
    from ftfy.badness import is_bad

    found: dict[str, Detector] = {"ours": lambda text: damage(text) > BROKEN}
    if "mojibake" in others:
        other = others["mojibake"].damage
        found["ours, other version"] = lambda text: bool(other(text) > BROKEN)
    found["ftfy is_bad"] = is_bad
    found["ftfy fix_encoding"] = lambda text: bool(fix_encoding(text) != text)
    return found


def broken_rows(
    texts: Sequence[Text], truth: Mapping[str, bool], ways: Mapping[str, Detector]
) -> list[dict[str, Any]]:
    """Alarms in the original texts."""
    some = [text.text for text in texts if not text.text.isascii()]
    rows = []
    for name, is_broken in ways.items():
        started = time.process_time()
        found = [text for text in some if is_broken(text)]
        seconds = time.process_time() - started
        counts = Counter(truth.get(key(text)) for text in found)
        row = {"broken, as they are": name, "right": counts[True], "wrong": counts[False]}
        rows.append(
            row | {"not judged": counts[None], "us a text": round(seconds / len(some) * 1e6, 1)}
        )
    return rows


def made_rows(texts: Sequence[Text], ways: Mapping[str, Detector]) -> list[dict[str, Any]]:
    """The percentage of detected texts among those read in a wrong encoding."""
    by_lang = defaultdict(list)
    for text in texts:
        if text.lang and len(text.text) in SIZES and not text.text.isascii():
            by_lang[text.lang].append(text.text)
    rng = random.Random(1)
    some = [
        text
        for own in by_lang.values()
        for text in rng.sample(own, min(SAMPLE, len(own)))
        if "\ufffd" not in text
    ]
    readings: dict[str, list[str]] = {}
    for code in WRONG_READINGS:
        readings[f"UTF-8 as {code}"] = [_misread(text, "utf-8", code) for text in some]
    for code in WRONG_READINGS[0], WRONG_READINGS[3]:
        twice = (_misread(_misread(text, "utf-8", code), "utf-8", code) for text in some)
        readings[f"UTF-8 as {code}, twice"] = list(twice)
    readings["cp1252 as UTF-8"] = [_misread(text, "cp1252", "utf-8") for text in some]
    rows = []
    for name, made in readings.items():
        broken = [wrong for text, wrong in zip(some, made, strict=True) if wrong not in ("", text)]
        row: dict[str, Any] = {"broken by hand": name, "texts": len(broken)}
        for title, is_broken in ways.items():
            row[f"{title} %"] = percent(sum(map(is_broken, broken)) / len(broken))
        rows.append(row)
    return rows


def _misread(text: str, code: str, other: str) -> str:
    try:
        return visible(text.encode(code).decode(other, "replace"))
    except UnicodeEncodeError:
        return ""


def catalogue_rows(ways: Mapping[str, Detector]) -> list[dict[str, Any]]:
    """Alarms in messages of programs, and additional ones if the messages are in capitals."""
    found: dict[str, None] = {}
    for file in sorted(CATALOGUES.rglob("*.mo")):
        try:
            with file.open("rb") as stream:
                messages = gettext.GNUTranslations(stream)._catalog.values()  # type: ignore[attr-defined]
        except (OSError, LookupError, ValueError):
            continue
        whole = (" ".join(each.split()) for each in messages if isinstance(each, str))
        found |= dict.fromkeys(each for each in whole if not each.isascii())
    some = random.Random(1).sample(list(found), min(MESSAGES, len(found)))
    rows = []
    for name, is_broken in ways.items():
        alarms = {text for text in some if is_broken(text)}
        capitals = sum(is_broken(text.upper()) for text in some if text not in alarms)
        rows.append(
            {f"{len(some):,} messages": name, "alarms": len(alarms), "more in capitals": capitals}
        )
    return rows if some else []


# What it costs


def cost_rows() -> list[dict[str, Any]]:
    """Import time, memory after some work, and size on disk, each in a separate process."""
    texts = "'Tel. 030 123456 oder +49 30 123456 ' * 9"
    programs = {
        "(nothing)": ("", "", ()),
        "diptych.corpus.telephones": (
            "from diptych.corpus.telephones import telephones", f"list(telephones({texts}))", (),
        ),
        "phonenumbers": (
            "import phonenumbers",
            f"[list(phonenumbers.PhoneNumberMatcher({texts}, region))"
            " for region in phonenumbers.SUPPORTED_REGIONS]",
            ("phonenumbers",),
        ),
        "diptych.stages.filter.shared.mojibake": (
            "from diptych.stages.filter.shared.mojibake import damage",
            "damage('cultureâ€™s' * 9)", (),
        ),
        "ftfy": (
            "from ftfy import fix_encoding", "fix_encoding('cultureâ€™s' * 9)", ("ftfy", "wcwidth"),
        ),
    }  # fmt: skip
    rows = []
    for name, (load, work, packages) in programs.items():
        code = (
            "import re, time, diptych.stages.filter\nstart = time.perf_counter()\n"
            f"{load}\nseconds = time.perf_counter() - start\n{work}\n"
            "lines = open('/proc/self/status').read().splitlines()\n"
            "most = next(line.split()[1] for line in lines if line.startswith('VmHWM'))\n"
            "print(seconds * 1e3, int(most) / 1024)"
        )
        runs = [
            subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
            for _ in range(3)
        ]
        loaded, memory = min(tuple(map(float, run.stdout.split())) for run in runs)
        size = sum(_size(package) for package in packages)
        row = {"costs": name, "loading ms": round(loaded, 1), "MB of memory": round(memory, 1)}
        rows.append(row | {"MB on disk": round(size / 1e6, 2)})
    return rows


def _size(package: str) -> int:
    """The bytes of a package without compiled caches."""
    files = distribution(package).files or []
    paths = [Path(str(file.locate())) for file in files if file.suffix != ".pyc"]
    return sum(path.stat().st_size for path in paths if path.is_file())


def _others(folder: Path | None) -> dict[str, Any]:
    """Load the modules of another version from their files."""
    found = {}
    for name in ("telephones", "mojibake"):
        file = folder / f"{name}.py" if folder else None
        if file and file.is_file():
            spec = importlib.util.spec_from_file_location(f"other_{name}", file)
            assert spec is not None
            assert spec.loader is not None
            found[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(found[name])
    return found


def main() -> None:
    """Compare, print the tables, and save the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--sites", type=Path, default=SHARED / "sites", metavar="DIR",
                        help="folder with real-dev.tar.zst (default: ../shared/sites)")  # fmt: skip
    parser.add_argument("--other", type=Path, metavar="DIR",
                        help="folder with telephones.py, mojibake.py to compare")  # fmt: skip
    parser.add_argument("--out", type=Path, default=RESULTS / "libraries.json", metavar="FILE")
    options = parser.parse_args()
    for name in ("phonenumbers", "ftfy"):
        if importlib.util.find_spec(name) is None:
            give_up(f"{name} is not installed; pip install {name}")
    for tool in ("zstd", "tar"):
        if not shutil.which(tool):
            give_up(f"there is no {tool} to unpack the real sites with")
    archive = options.sites / "real-dev.tar.zst"
    for file in (archive, TRUTH):
        if not file.is_file():
            give_up(f"{file} is missing")
    numbers, broken = read_truth()
    others = _others(options.other)
    texts = read_texts(archive)
    phones, ways = finders(others), detectors(others)
    shown: Tables = {
        f"Telephone numbers in {len(texts):,} texts": telephone_rows(texts, numbers, phones),
        "Examples of all countries": example_rows(phones),
        "Broken characters in real texts": broken_rows(texts, broken, ways),
        "Broken characters that were made": made_rows(texts, ways),
    }
    if messages := catalogue_rows(ways):
        shown["Alarms in catalogues of programs"] = messages
    shown["What it costs"] = cost_rows()
    show(shown)
    result = {
        "version": VERSION, "tables": shown, "machine": machine(["phonenumbers", "ftfy", "wcwidth"])
    }  # fmt: skip
    options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
