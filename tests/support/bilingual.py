"""Small bilingual sites made of the demo's texts, in archives, as hard to pair as one likes."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from diptych.demo import GOLD, SITE
from diptych.run.warc import compose
from diptych.types import Response, Url
from support.commands import placeless, query, rows, run

HOST = "http://phares.example"
Pages = dict[str, str]
"""path -> HTML"""


@dataclass(frozen=True)
class Document:
    """One document in English and French, paragraph by paragraph."""

    name: str
    en: tuple[str, ...]
    fr: tuple[str, ...]

    def __getitem__(self, lang: str) -> tuple[str, ...]:
        return self.en if lang == "en" else self.fr


def texts(path: str) -> tuple[str, ...]:
    """The paragraphs of a page of the demo."""
    file = SITE / path.lstrip("/")
    data = (file / "index.html" if file.is_dir() else file).read_bytes()
    try:
        parser = LexborHTMLParser(data.decode())
    except UnicodeDecodeError:  # some pages of the demo are as old as they look
        parser = LexborHTMLParser(data.decode("cp1252"))
    return tuple(" ".join(node.text().split()) for node in parser.css("p"))


@cache
def documents() -> tuple[Document, ...]:
    """All documents of the demo but its home page."""
    found = []
    for row in rows(GOLD)[1:]:
        left, right = texts(row["left_path"]), texts(row["right_path"])
        assert len(left) == len(right)
        name = row["left_path"].strip("/").removeprefix("en/").removesuffix(".html")
        found.append(Document(name, left, right))
    return tuple(found)


def html(paragraphs: Iterable[str], *, lang: str = "", head: str = "", body: str = "") -> str:
    """A page of paragraphs."""
    text = "".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs)
    declared = f' lang="{lang}"' if lang else ""
    return (
        f"<!DOCTYPE html><html{declared}><head><meta charset=utf-8>{head}</head>"
        f"<body>{body}<main>{text}</main></body></html>"
    )


def alternate(lang: str, path: str) -> str:
    """What a page says of its translation."""
    return f'<link rel="alternate" hreflang="{lang}" href="{HOST}{path}">'


def plain_site() -> Pages:
    """Every document at /en/NAME and /fr/NAME."""
    return {
        f"/{lang}/{document.name}": html(document[lang], lang=lang)
        for document in documents()
        for lang in ("en", "fr")
    }


def names(but: Iterable[str] = ()) -> set[tuple[str, str]]:
    """The pairs of `plain_site`, but for some documents."""
    left_out = set(but)
    return {
        (f"/en/{each.name}", f"/fr/{each.name}")
        for each in documents()
        if each.name not in left_out
    }


def write_archive(path: Path, pages: Mapping[str, str], order: Sequence[str] = ()) -> Path:
    """The pages as a WARC file, in an order."""
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    with path.open("wb") as out:
        for place in order or list(pages):
            url = Url(place if "://" in place else HOST + place)
            out.write(compose(Response(url, 200, headers, pages[place].encode(), 1.7e9)))
    return path


@dataclass(frozen=True)
class Mined:
    """A finished run, as the command line left it."""

    folder: Path
    exit_code: int
    said: str

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """The pairs that were verified, by path."""
        return {
            (row["left_url"].removeprefix(HOST), row["right_url"].removeprefix(HOST))
            for row in rows(self.folder / "pairs.tsv")
        }

    def corpus(self, path: str = "") -> list[tuple[str, str]]:
        """The segments, or those of one left page."""
        return [
            (row["left"], row["right"])
            for row in rows(self.folder / "corpus.tsv")
            if not path or row["left_url"] == HOST + path
        ]

    def files(self) -> tuple[bytes, bytes]:
        """What must not depend on chance."""
        return tuple((self.folder / name).read_bytes() for name in ("pairs.tsv", "corpus.tsv"))

    def found(self) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
        """The same, wherever in whatever archives the pages are."""
        return rows(self.folder / "pairs.tsv"), placeless(self.folder)

    def decision(self, left: str, right: str) -> tuple[int, str, str] | None:
        """Whether a pair was accepted, the reason and the marks; None if it is no pair."""
        found = query(
            self.folder,
            "SELECT accept, decisions.reason, marks FROM decisions JOIN pairs ON pairs.id = pair"
            " JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right"
            f" WHERE l.url = '{HOST}{left}' AND r.url = '{HOST}{right}'",
        )
        return found[0] if found else None

    def explain(self, *paths: str) -> str:
        """What `diptych explain` says."""
        result = run("explain", self.folder, *(HOST + path for path in paths))
        assert result.exit_code == 0, result.output
        return " ".join(result.stdout.split())


def mine_archives(
    folder: Path, *archives: Path, langs: str = "en,fr", more: Iterable = ()
) -> Mined:
    """Mine archives by the command line."""
    result = run(
        "mine", *(part for file in archives for part in ("--warc", file)), "--langs", langs,
        "--out", folder, *more,
    )  # fmt: skip
    assert result.stdout == ""
    return Mined(folder, result.exit_code, " ".join(result.stderr.split()))


def mine(tmp_path: Path, pages: Mapping[str, str], *, langs: str = "en,fr") -> Mined:
    """Mine pages."""
    return mine_archives(
        tmp_path / "run", write_archive(tmp_path / "site.warc.gz", pages), langs=langs
    )


LANGS = ("en", "fr", "de")
SENTENCES = (
    ("The tower of {name} was built in {year} and stands {n} metres above the sea.",
     "La tour de {name} fut construite en {year} et s'élève à {n} mètres au-dessus de la mer.",
     "Der Turm von {name} wurde {year} gebaut und ragt {n} Meter über das Meer."),
    ("Every evening the keeper climbed the stairs with a can of oil in his hand.",
     "Chaque soir, le gardien montait l'escalier, un bidon d'huile à la main.",
     "Jeden Abend stieg der Wärter mit einer Kanne Öl in der Hand die Treppe hinauf."),
    ("In winter the waves break the windows of the kitchen.",
     "En hiver, les vagues brisent les fenêtres de la cuisine.",
     "Im Winter schlagen die Wellen die Fenster der Küche ein."),
    ("The village of {name} lives on fishing and on the visitors of the summer.",
     "Le village de {name} vit de la pêche et des visiteurs de l'été.",
     "Das Dorf {name} lebt vom Fischfang und von den Gästen des Sommers."),
    ("A ship with {n} sailors was lost here in the fog of the year {year}.",
     "Un navire avec {n} marins s'est perdu ici dans la brume de l'année {year}.",
     "Ein Schiff mit {n} Matrosen ging hier im Nebel des Jahres {year} verloren."),
    ("The lamp was replaced by a motor, and nobody lives in the house any more.",
     "La lampe a été remplacée par un moteur, et personne n'habite plus la maison.",
     "Die Lampe wurde durch einen Motor ersetzt, und niemand wohnt mehr in dem Haus."),
    ("From the platform one sees the islands and, far away, the mountains.",
     "De la plate-forme, on voit les îles et, au loin, les montagnes.",
     "Von der Plattform sieht man die Inseln und in der Ferne die Berge."),
    ("The stones were cut on land and carried to the rock by boat.",
     "Les pierres furent taillées à terre et portées jusqu'au rocher en bateau.",
     "Die Steine wurden an Land behauen und mit dem Boot zum Felsen gebracht."),
    ("Children of the school of {name} painted the door red.",
     "Les enfants de l'école de {name} ont peint la porte en rouge.",
     "Kinder der Schule von {name} haben die Tür rot gestrichen."),
    ("The old bell weighs {n} kilograms and is kept in the museum.",
     "La vieille cloche pèse {n} kilogrammes et se trouve au musée.",
     "Die alte Glocke wiegt {n} Kilogramm und steht im Museum."),
    ("Birds rest on the gallery when they travel to the south.",
     "Des oiseaux se reposent sur la galerie quand ils partent vers le sud.",
     "Vögel ruhen auf der Galerie, wenn sie nach Süden ziehen."),
    ("The path to the tower is closed when the tide is high.",
     "Le chemin de la tour est fermé quand la marée est haute.",
     "Der Weg zum Turm ist gesperrt, wenn die Flut hoch ist."),
    ("An engineer wrote a book of {n} pages about this light.",
     "Un ingénieur a écrit un livre de {n} pages sur ce feu.",
     "Ein Ingenieur schrieb ein Buch von {n} Seiten über dieses Feuer."),
    ("The garden behind the wall gives cabbage, onions and a few apples.",
     "Le jardin derrière le mur donne des choux, des oignons et quelques pommes.",
     "Der Garten hinter der Mauer gibt Kohl, Zwiebeln und ein paar Äpfel."),
    ("Storms moved a block of {n} tons across the rock in {year}.",
     "En {year}, des tempêtes déplacèrent un bloc de {n} tonnes sur le rocher.",
     "Stürme verschoben {year} einen Block von {n} Tonnen über den Felsen."),
)  # fmt: skip
PLACES = (
    "Kerouzan", "Brandholm", "Tarvale", "Osmouth", "Lindeborg", "Penmarven", "Gullsund", "Morwick",
    "Valdrec", "Hestervig", "Trebazan", "Skarholt",
)  # fmt: skip


def trilingual() -> list[dict[str, tuple[str, ...]]]:
    """Documents in English, French and German, on places that are not."""
    chance = random.Random(3)
    made = []
    for place in PLACES:
        chosen = sorted(chance.sample(range(len(SENTENCES)), 9))
        slots = [(chance.randrange(1700, 1990), chance.randrange(11, 999)) for _ in chosen]
        made.append(
            {
                lang: tuple(
                    SENTENCES[number][column].format(name=place, year=year, n=n)
                    for number, (year, n) in zip(chosen, slots, strict=True)
                )
                for column, lang in enumerate(LANGS)
            }
        )
    return made
