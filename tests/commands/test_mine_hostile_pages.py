"""A site of hostile pages: nothing of what they try gets into the outputs of a run."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser
from support.bilingual import HOST, documents, html
from support.commands import mistake, rows, run

from diptych.run.warc import compose
from diptych.types import Response, Url

# Each text is on pages in both languages, so that it becomes a segment.
TEXTS = (
    ("The \u202eyard of the\u202c old tower is \u2066open\u2069 every day.",
     "La \u202ecour de la\u202c vieille tour est \u2066ouverte\u2069 tous les jours."),
    ("The la\u200bmp of the tower\ufeff is li\u2060t at ni\u00adght.",
     "La la\u200bmpe de la tour\ufeff est al\u2060lumée la nu\u00adit."),
    ("The keeper\0 climbs the \0stairs every evening.",
     "Le gardien\0 monte les \0escaliers chaque soir."),
    ("The \x1b[31mred\x1b[0m light \x07turns \x1b]0;title\x07 slowly.",
     "La lumière \x1b[31mrouge\x1b[0m \x07tourne \x1b]0;titre\x07 lentement."),
    ("The \x9b31mgreen light &#27;[2J stays &#155; there.",
     "La lumière \x9b31mverte &#27;[2J reste &#155; là."),
    ("=HYPERLINK(&quot;http://evil.example/&quot;,&quot;Click here to read the book&quot;)",
     "=HYPERLINK(&quot;http://evil.example/&quot;,&quot;Cliquez ici pour lire le livre&quot;)"),
    ("&lt;script&gt;alert(1)&lt;/script&gt; is written in the book.",
     "&lt;script&gt;alert(1)&lt;/script&gt; est écrit dans le livre."),
    ("The horn \ud800 sounds &#xD800; in the fog &#56832; today.",
     "La corne \ud800 sonne &#xD800; dans le brouillard &#56832; aujourd'hui."),
    ("First part\u2028second part\u2029third part of the page.",
     "Première partie\u2028deuxième partie\u2029troisième partie de la page."),
)  # fmt: skip
TITLE = "\x1b[2J&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;\u202eevil =cmd|' /C calc'!A0"
LINKS = (
    '<a href="javascript:alert(1)">Français</a><a href="JaVa\tScRiPt:alert(2)">English</a>'
    '<a href="data:text/html,<script>1</script>">Deutsch</a><a href="vbscript:x">x</a>'
)
TURNING = re.compile("[\u2028-\u202e\u2066-\u2069\u00ad\u200b\u2060\ufeff]")  # and without width


def site() -> dict[str, str]:
    """Pages with hostile texts, one with 5,000 levels and one with a million attributes."""
    pages = {}
    for side, lang in enumerate(("en", "fr")):
        texts = [pair[side] for pair in TEXTS]
        for document in documents()[:3]:
            head, body = f"<title>{TITLE}</title>", LINKS
            pages[f"/{lang}/{document.name}"] = html(
                [*document[lang], *texts], lang=lang, head=head, body=body
            )
        deep, wide = documents()[3:5]
        pages[f"/{lang}/{deep.name}"] = html(deep[lang], lang=lang, body="<div>" * 5_000)
        attributes = " ".join(f"a{number}=1" for number in range(1_000_000))
        pages[f"/{lang}/{wide.name}"] = html(wide[lang], lang=lang, body=f"<p {attributes}>x</p>")
    return pages


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The folder of a run of the site, and what the commands have printed."""
    folder = tmp_path_factory.mktemp("hostile")
    headers = (("Content-Type", "text/html; charset=utf-8"), ("X-Powered-By", "\x1b[2J"))
    with (folder / "a.warc.gz").open("wb") as out:
        for path, text in site().items():
            body = text.encode("utf-8", "surrogatepass")
            out.write(compose(Response(Url(HOST + path), 200, headers, body, 1.7e9)))
    made = folder / "run"
    pages = [f"{HOST}/{lang}/{documents()[0].name}" for lang in ("en", "fr")]
    printed = {}
    for command in (
        ("mine", "--warc", folder / "a.warc.gz", "--langs", "en,fr", "--out", made),
        ("status", made), ("status", made, "--json"), ("explain", made, *pages),
        ("explain", made, pages[0]), ("terms", made), ("check", made),
        ("export", made, "--format", "tsv", "--min-score", 0),
        ("export", made, "--format", "moses"),
        ("export", made, "--format", "tmx", "--min-score", 0),
        ("export", made, "--format", "jsonl", "--min-score", 0),
        ("export", made, "--format", "docs", "--markdown"),
        ("export", made, "--format", "standoff"),
        ("export", made, "--format", "tsv", "--safe-cells"),
    ):  # fmt: skip
        result = run(*command)
        assert result.exit_code == 0, result.output
        printed[" ".join(map(str, command))] = result.output
    return made, printed


def written(made: Path) -> Iterator[tuple[str, str]]:
    """The text files of a run."""
    for file in sorted(made.rglob("*")):
        if file.is_file() and file.suffix != ".gz" and "sqlite" not in file.name:
            yield file.name, file.read_bytes().decode("utf-8")


def values(data: Any) -> Iterator[str]:
    """All texts in plain data."""
    if isinstance(data, dict | list):
        for each in data.values() if isinstance(data, dict) else data:
            yield from values(each)
    else:
        yield str(data)


def is_control(letter: str) -> bool:
    return (unicodedata.category(letter) in ("Cc", "Cs") and letter not in "\t\n") or (
        TURNING.match(letter) is not None
    )


def test_no_output_controls_a_terminal_or_turns_its_text(mined) -> None:
    made, printed = mined
    files = dict(written(made))
    assert {"corpus.tsv", "corpus.tmx", "corpus-selected.jsonl", "corpus.docs.jsonl"} <= set(files)
    for name, text in [*printed.items(), *files.items()]:
        found = {letter for letter in set(text) if is_control(letter)}
        assert not found, (name, found)


def test_texts_of_the_pages_are_in_the_corpus(mined) -> None:
    made, _ = mined
    found = {row["left"] for row in rows(made / "corpus-selected.tsv")}
    assert "The keeper climbs the stairs every evening." in found
    assert "<script>alert(1)</script> is written in the book." in found
    assert len(rows(made / "pairs.tsv")) == 5, "also the deep page, and the one of attributes"


def test_reports_and_tmx_hold_markup_of_pages_as_text(mined) -> None:
    made, _ = mined
    report = (made / "report.html").read_text("utf-8")
    tree = LexborHTMLParser(report)
    assert tree.css("script, iframe, object, embed, img, base, form") == []
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in report
    hrefs = [node.attributes["href"] or "" for node in tree.css("[href]")]
    assert hrefs
    assert all(href.startswith(HOST) for href in hrefs)
    assert not any(name.startswith("on") for node in tree.css("*") for name in node.attributes)
    assert "<script>" not in (made / "corpus.tmx").read_text("utf-8")


def test_links_that_are_no_addresses_are_nowhere(mined) -> None:
    made, printed = mined
    for name, text in [*printed.items(), *written(made)]:
        assert not re.search("javascript:|data:text|vbscript:", text, re.IGNORECASE), name


def test_safe_cells_have_no_formulas(mined) -> None:
    made, _ = mined
    for row in rows(made / "corpus-safe.tsv"):
        assert not any(
            value.lstrip().startswith(("=", "+", "-", "@", '"')) for value in row.values()
        )


def test_names_of_files_are_plain(mined) -> None:
    made, _ = mined
    for file in made.rglob("*"):
        assert re.fullmatch(r"[\w.-]+", file.name, re.ASCII)


def test_json_lines_keep_what_the_pages_say(mined) -> None:
    made, _ = mined
    texts = {
        text
        for line in (made / "corpus.docs.jsonl").read_text("utf-8").splitlines()
        for text in values(json.loads(line))
    }
    assert any("\u202e" in text for text in texts), "escaped in the file"


@pytest.mark.parametrize("command", [["status"], ["export", "--format", "tsv"]])
def test_messages_do_not_echo_control_characters_of_arguments(command: list[str]) -> None:
    said = mistake(*command, "/nowhere/\x1b[2J\x9b\u202e")
    assert said.startswith("error: there is no folder /nowhere/")
    assert not any(map(is_control, said))
