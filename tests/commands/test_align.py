"""`diptych align` on the command line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.commands import mistake, run
from support.timing import processor_seconds

from diptych.learn.lexicon.lexicon import Lexicon

GERMAN = "Guten Tag.\nDas ist der K2.\nEr ist 8611 Meter hoch und sehr schwer zu besteigen.\n"
FRENCH = "Bonjour.\nC'est le K2.\nIl a 8611 mètres de haut.\nIl est difficile à gravir.\n"
LADDER = ["[0]:[0]", "[1]:[1]", "[2]:[2, 3]"]
PAGE = (
    "<!doctype html><title>Our harbour</title><h1>Harbour</h1>"
    "<p>In 1956 it was built. It is 12 metres deep.</p><p>Only here, on this page.</p>"
)
OTHER = (
    "<!doctype html><title>Notre port</title><h1>Port</h1>"
    "<p>Il fut construit en 1956. Il a 12 mètres de profondeur.</p>"
)
SECONDS = 20.0  # of processor time that a page as bad as can be may take here


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    def written(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


@pytest.fixture
def texts(write) -> tuple[Path, Path]:
    return write("a.txt", GERMAN), write("b.txt", FRENCH)


@pytest.fixture
def pages(write) -> tuple[Path, Path]:
    return write("a.html", PAGE), write("b.html", OTHER)


def aligned(*arguments: object, langs: str = "de,fr", code: int = 0) -> list[str]:
    result = run("align", *arguments, "--langs", langs)
    assert result.exit_code == code, result.output
    if code == 0:
        assert result.stderr == ""
    return result.stdout.splitlines()


# -- text files --------------------------------------------------------------------------------


def test_text_as_tsv(texts) -> None:
    lines = [line.split("\t") for line in aligned(*texts)]
    assert [line[:2] for line in lines] == [
        ["Guten Tag.", "Bonjour."],
        ["Das ist der K2.", "C'est le K2."],
        [
            "Er ist 8611 Meter hoch und sehr schwer zu besteigen.",
            "Il a 8611 mètres de haut. Il est difficile à gravir.",
        ],
    ]
    assert all(len(line) == 3 and 0 < float(line[2]) <= 1 for line in lines)


def test_text_as_ladder(texts) -> None:
    assert aligned(*texts, "--format", "ladder") == LADDER


def test_text_as_json(texts) -> None:
    found = [json.loads(line) for line in aligned(*texts, "--format", "json")]
    assert found[2] == {
        "left": [2], "right": [2, 3],
        "left_text": "Er ist 8611 Meter hoch und sehr schwer zu besteigen.",
        "right_text": "Il a 8611 mètres de haut. Il est difficile à gravir.",
        "score": found[2]["score"], "left_path": "", "right_path": "",
    }  # fmt: skip


def test_unaligned_sentences_are_printed_on_request_and_always_in_a_ladder(write) -> None:
    alone = "Davon ist auf der anderen Seite überhaupt nirgends auch nur ein einziges Mal die Rede."
    left = write("a.txt", f"Im Jahr 1956.\n{alone}\nIm Jahr 1957.\nIm Jahr 1958.\n")
    right = write("b.txt", "En 1956, enfin.\nEn 1957, enfin.\nEn 1958, enfin.\n")
    assert len(aligned(left, right)) == 3
    lines = aligned(left, right, "--unaligned")
    assert lines[1].split("\t")[:2] == [alone, ""]
    assert len(lines) == 4
    ladder = ["[0]:[0]", "[1]:[]", "[2]:[1]", "[3]:[2]"]
    assert aligned(left, right, "--format", "ladder") == ladder
    assert aligned(right, left, "--format", "ladder", langs="fr,de")[1] == "[]:[1]"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.removesuffix("\n").encode(),
        lambda text: text.encode("utf-16"),
    ],
    ids=["crlf", "bom", "no-end", "utf-16"],
)
def test_files_of_other_systems(write, spoil) -> None:
    left, right = write("a.txt", spoil(GERMAN)), write("b.txt", spoil(FRENCH))
    assert aligned(left, right, "--format", "ladder") == LADDER
    assert aligned(left, right)[0].startswith("Guten Tag.\tBonjour.\t")
    first = json.loads(aligned(left, right, "--format", "json")[0])
    assert (first["left_text"], first["right_text"]) == ("Guten Tag.", "Bonjour.")


def test_text_in_latin_1(write) -> None:
    left = write("a.txt", "Größe über alles, sagte König Günther.\n".encode("latin-1"))
    right = write("b.txt", "La taille avant tout, disait le roi Günther.\n".encode("latin-1"))
    (line,) = aligned(left, right)
    assert line.startswith("Größe über alles, sagte König Günther.\tLa taille")


def test_only_line_feeds_end_a_sentence_and_tabs_no_field(write) -> None:
    left = write("a.txt", "Eins\u2028und zwei\tim Jahr 1956.\nDrei 1957.\n")
    right = write("b.txt", "Un et deux en 1956.\nTrois 1957.\n")
    assert aligned(left, right, "--format", "ladder") == ["[0]:[0]", "[1]:[1]"]
    assert aligned(left, right)[0].startswith("Eins und zwei im Jahr 1956.\tUn et deux")


def test_blank_lines_keep_their_numbers_and_translate_nothing(write) -> None:
    left = write("a.txt", "Im Jahr 1956.\n\nIm Jahr 1957.\n")
    right = write("b.txt", "En 1956.\nEn 1957.\n")
    assert aligned(left, right, "--format", "ladder") == ["[0]:[0]", "[2]:[1]", "[1]:[]"]
    lines = [line.split("\t")[:2] for line in aligned(left, right)]
    assert lines == [["Im Jahr 1956.", "En 1956."], ["Im Jahr 1957.", "En 1957."]]


def test_links_of_two_pages(write) -> None:
    left = write("a.html", '<p><a href="/en/1">Map of 1956</a> <a href="/en/2">Help</a></p>')
    right = write("b.html", '<p><a href="/fr/1">Carte de 1956</a> <a href="/fr/2">Aide</a></p>')
    found = [line.split("\t")[:2] for line in aligned(left, right, "--links")]
    assert [[url.rpartition("/")[2] for url in pair] for pair in found] == [["1", "1"], ["2", "2"]]
    texts = write("a.txt", "One."), write("b.txt", "Un.")
    said = mistake("align", *texts, "--langs", "en,fr", "--links")
    assert "--links requires two HTML pages" in said
    line = mistake("align", left, right, "--langs", "en,fr", "--links", "--trees", "flat")
    assert "does not align links" in line


def test_names_of_strategies_are_checked_first(write) -> None:
    texts = write("a.txt", "One."), write("b.txt", "Un.")
    line = mistake("align", *texts, "--langs", "en,fr", "--trees", "foo")
    assert "unknown align_dom strategy 'foo'" in line


def test_method_can_be_chosen(texts) -> None:
    for method in ("gale_church", "ibm1", "length_lexicon", "embedding"):
        assert len(aligned(*texts, "--method", method)) >= 2
    line = mistake("align", *texts, "--langs", "de,fr", "--method", "hunalign")
    assert "unknown align_sentences strategy 'hunalign'; available: embedding, gale_church" in line


def test_lexicon_decides_on_the_alignment(write) -> None:
    left = write("a.txt", "y" * 50 + " der hund schläft " + "y" * 40)
    lines = ["w" * 50 + text + "w" * 40 for text in (" le chat mange ", " le chien dort ")]
    words = [("hund", "chien", 1.0), ("schläft", "dort", 1.0)]
    lexicon = write("words.npz", Lexicon.of_links("de", "fr", words).to_bytes())
    for order, place in ((lines, 1), (lines[::-1], 0)):
        right = write("b.txt", "\n".join(order))
        found = aligned(left, right, "--format", "ladder", "--lexicon", lexicon)
        assert f"[0]:[{place}]" in found


# -- pages -------------------------------------------------------------------------------------


def test_pages_as_tsv_with_paths(pages) -> None:
    lines = [line.split("\t") for line in aligned(*pages, langs="en,fr")]
    assert [line[:2] for line in lines] == [
        ["Our harbour", "Notre port"],
        ["Harbour", "Port"],
        ["In 1956 it was built.", "Il fut construit en 1956."],
        ["It is 12 metres deep.", "Il a 12 mètres de profondeur."],
    ]
    assert [line[3:] for line in lines] == [
        ["/html/head/title"] * 2, ["/html/body/h1[1]"] * 2, ["/html/body/p[1]"] * 2,
        ["/html/body/p[1]"] * 2,
    ]  # fmt: skip


def test_pages_as_ladder_and_json(pages) -> None:
    ladder = ["[0]:[0]", "[1]:[1]", "[2]:[2]", "[3]:[3]", "[4]:[]"]
    assert aligned(*pages, "--format", "ladder", langs="en,fr") == ladder
    lines = aligned(*pages, "--format", "json", "--unaligned", langs="en,fr")
    last = json.loads(lines[-1])
    assert (last["left_text"], last["right_text"], last["right"]) == (
        "Only here, on this page.", "", [],
    )  # fmt: skip
    assert last["score"] == 0


def test_page_is_recognised_by_its_name_or_content(write, pages) -> None:
    expected = aligned(*pages, langs="en,fr")
    assert aligned(write("a", PAGE), write("b.php", OTHER), langs="en,fr") == expected
    # What is called a text is one.
    left, right = write("a.txt", PAGE), write("b.txt", OTHER)
    assert aligned(left, right, "--format", "ladder", langs="en,fr") == ["[0]:[0]"]
    # And a page without any tag is one if it is called so.
    assert aligned(write("c.HTM", "Only text."), write("d.xhtml", "Du texte."), langs="en,fr")


@pytest.mark.parametrize(
    ("charset", "encoding"),
    [("iso-8859-1", "latin-1"), ("windows-1252", "cp1252"), ("utf-8", "utf-8-sig")],
)
def test_pages_in_other_encodings(write, charset: str, encoding: str) -> None:
    head = f"<meta charset={charset}>"
    text = "Près du château, à l'été 1956, l'œil voyait déjà la forêt.".replace("œ", "oe")
    left = write("a.html", f"{head}<p>{text}</p>".encode(encoding))
    right = write("b.html", "<p>Near the castle, in summer 1956, one already saw the forest.</p>")
    (line,) = aligned(left, right, langs="fr,en")
    assert line.startswith(text + "\t")


def test_same_page_twice(pages) -> None:
    lines = aligned(pages[0], pages[0], langs="en,fr")
    assert len(lines) == 5
    for line in lines:
        left, right, *_ = line.split("\t")
        assert left == right


def test_trees_can_be_chosen(pages) -> None:
    assert len(aligned(*pages, "--trees", "flat", langs="en,fr")) >= 2
    line = mistake("align", *pages, "--langs", "en,fr", "--trees", "oak")
    assert "unknown align_dom strategy 'oak'; available: domtree, flat" in line


# -- nothing found, and mistakes ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.txt", b"", "is an empty file"),
        ("a.html", b" \n", "is an empty file"),
        ("a.pdf", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "is a PDF"),
        ("a.html", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "is a PDF"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is an image"),
        ("a.docx", b"PK\x03\x04\x14\0\x06\0", "is a ZIP archive or an office document"),
        ("a.txt.gz", gzip.compress(b"Guten Tag.\n", mtime=0), "is a compressed file"),
        ("a.txt", bytes(range(256)), "is a binary file"),
    ],
)
def test_files_without_text_are_named(write, name: str, data: bytes, said: str) -> None:
    wrong, other = write(name, data), write("b.txt", "Nur hier.\n")
    for files in ((wrong, other), (other, wrong)):
        line = mistake("align", *files, "--langs", "de,fr")
        assert line == (
            f"error: {wrong} {said}; specify HTML pages, or text files with one sentence per line"
        )


def test_pages_without_text_have_nothing_in_common(write) -> None:
    blank, other = write("a.html", "<p></p>"), write("b.html", "<p>Nur hier.</p>")
    result = run("align", other, blank, "--langs", "de,fr", "--format", "ladder")
    assert (result.exit_code, result.stdout) == (1, "[0]:[]\n")
    assert result.stderr == f"no sentence in {other} corresponds to one in {blank}\n"


def test_mistakes_are_one_line(texts, pages, write, tmp_path: Path) -> None:
    langs = ("--langs", "de,fr")
    missing = tmp_path / "no.txt"
    assert f"cannot read {missing}: No such file" in mistake("align", missing, texts[1], *langs)
    assert f"cannot read {tmp_path}: Is a directory" in mistake("align", texts[0], tmp_path, *langs)
    line = mistake("align", pages[0], texts[1], *langs)
    assert (
        f"{pages[0]} is an HTML page and {texts[1]} is a text file;"
        " specify two files of the same kind" in line
    )
    assert f"{pages[1]} is an HTML page" in mistake("align", texts[0], pages[1], *langs)
    assert "specify two languages, such as" in mistake("align", *texts, "--langs", "de,fr,en")
    assert "two different languages" in mistake("align", *texts, "--langs", "de")
    assert "unknown language" in mistake("align", *texts, "--langs", "de,zzzz")
    assert "cannot read" in mistake("align", *texts, *langs, "--lexicon", missing)
    assert "not a Diptych lexicon" in mistake("align", *texts, *langs, "--lexicon", texts[0])
    other = write("other.npz", Lexicon.empty("en", "ja").to_bytes())
    for files in (texts, pages):
        line = mistake("align", *files, *langs, "--lexicon", other)
        assert "the lexicon is for en,ja, not de,fr" in line


def test_file_too_large_is_refused(texts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diptych.commands.align._MAX_BYTES", 10)
    line = mistake("align", *texts, "--langs", "de,fr")
    assert "is larger than 0 MB; use a smaller file" in line


# -- as bad as can be --------------------------------------------------------------------------


def bounded(*arguments: object, langs: str = "en,fr", code: int = 0) -> list[str]:
    with processor_seconds(SECONDS):
        return aligned(*arguments, langs=langs, code=code)


@pytest.mark.slow
def test_pages_of_200_000_nodes(write) -> None:
    items = [f"<li>{number % 977} of {number % 31}</li>" for number in range(100_000)]
    left = write("a.html", f"<h1>Numbers</h1><ul>{''.join(items)}</ul><p>The end of 1956.</p>")
    other = [item.replace("of", "de") for item in items[:99_000]]
    right = write("b.html", f"<h1>Nombres</h1><ul>{''.join(other)}</ul><p>Fin de 1956.</p>")
    found = run("align", left, right, "--langs", "en,fr")
    assert found.exit_code == 0
    # So many blocks are read, and it is said that there are more.
    assert len(found.stdout.splitlines()) > 49_000
    assert found.stderr.count("more than 50,000 blocks") == 2


def test_pages_of_5_000_levels(write) -> None:
    deep = "<div>" * 5_000
    left = write("a.html", f"<p>Before, in 1955.</p>{deep}<p>Down here in 1956.</p>")
    right = write("b.html", f"<p>Avant, en 1955.</p>{deep}<p>Tout en bas en 1956.</p>")
    lines = [line.split("\t")[:2] for line in bounded(left, right)]
    assert ["Before, in 1955.", "Avant, en 1955."] in lines
    assert ["Down here in 1956.", "Tout en bas en 1956."] in lines


def test_text_between_5_000_levels(write) -> None:
    def page(word: str) -> str:
        return "".join(f"<div>{word} {number} " for number in range(5_000))

    assert len(bounded(write("a.html", page("Step")), write("b.html", page("Pas")))) > 4_000


def test_page_of_one_block_of_a_megabyte(write) -> None:
    left = write("a.html", "<h1>In 1956</h1><p>" + "a cat, a dog and a horse " * 50_000)
    right = write("b.html", "<h1>En 1956</h1><p>" + "un chat, un chien, un cheval " * 45_000)
    assert bounded(left, right)[0].startswith("In 1956\tEn 1956\t")


def test_control_characters_and_right_to_left(write) -> None:
    left = write("a.html", "<p>In 1956\x00\x07 he \u202ewrote\u202c it.</p><p dir=ltr>Two.</p>")
    right = write("b.html", "<p dir=rtl>كتبه\x01 في عام ١٩٥٦.\u200f</p><p>اثنان.</p>")
    lines = bounded(left, right, langs="en,ar")
    assert len(lines) == 2
    assert all(line.count("\t") == 4 for line in lines)
