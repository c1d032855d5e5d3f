"""Mining of languages that are requested in two scripts, or that cannot be identified."""

from __future__ import annotations

from pathlib import Path

from support.bilingual import documents
from support.commands import query, rows, run
from support.serving import MISSING, Reply, serve
from support.strange import strange

CYRILLIC = "АБВГДЂЕЖЗИЈКЛЉМНЊОПРСТЋУФХЦЧЏШ"
LATIN = "A B V G D Đ E Ž Z I J K L Lj M N Nj O P R S T Ć U F H C Č Dž Š".split()
TO_LATIN = {
    ord(letter): written
    for old, new in zip(CYRILLIC, LATIN, strict=True)
    for letter, written in ((old, new), (old.lower(), new.lower()))
}
SERBIAN = {
    "svetionik": (
        "Чувар се сваке вечери пење уз степенице и пали светиљку пре него што бродови стигну.",
        "Када је магла густа, звони се у звоно, тако да нико не удари у стене испод куле.",
        "Степениште има сто осамдесет девет степеника, а зидови су дебели готово два метра.",
    ),
    "muzej": (
        "Музеј је отворен сваког дана осим понедељка, од девет ујутру до пет по подне.",
        "У првој сали изложене су старе карте обале и бележнице капетана из прошлог века.",
        "Деца до дванаест година не плаћају улаз ако долазе у пратњи одраслих посетилаца.",
    ),
    "luka": (
        "Лука лежи у заливу који је заклоњен од северног ветра, па су бродови ту безбедни.",
        "Рибари се враћају пре зоре и продају свој улов на пијаци поред старе цариналнице.",
        "Лети одавде два пута недељно полази брод за острва, а зими само једном месечно.",
    ),
    "istorija": (
        "Први светионик на овом месту подигнут је од дрвета и изгорео је после само три године.",
        "Садашњу кулу саградили су радници из целе покрајине за мање од двадесет месеци.",
        "За време рата светлост је била угашена, а чувар је са породицом живео у селу.",
    ),
    "kako-doci": (
        "Из града се аутобусом стиже за мање од једног сата, а од станице води обележена стаза.",
        "Возачима препоручујемо да аутомобил оставе испред цркве, јер је пут до рта веома узан.",
        "Бицикли се могу изнајмити код управе луке, али само уз важећу личну карту.",
    ),
}  # fmt: skip
DOCUMENTS = documents()[:8]


def page(title: str, paragraphs: tuple[str, ...], links: dict[str, str], lang: str = "") -> Reply:
    anchors = "".join(f'<li><a href="{path}">{text}</a></li>' for path, text in links.items())
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    own = f' lang="{lang}"' if lang else ""
    return Reply(
        f"<!DOCTYPE html><html{own}><head><title>{title}</title></head><body><h1>{title}</h1>"
        f"{body}<ul>{anchors}</ul></body></html>"
    )


def serbian_site() -> dict[str, Reply]:
    """The same pages in both scripts, in folders whose names do not identify the script."""
    site = {"/robots.txt": MISSING}
    for folder, table in (("a", {}), ("b", TO_LATIN)):
        for name, paragraphs in SERBIAN.items():
            texts = tuple(text.translate(table) for text in paragraphs)
            links = {f"/{folder}/{other}.html": f"{number}" for number, other in enumerate(SERBIAN)}
            other = "b" if folder == "a" else "a"
            links[f"/{other}/{name}.html"] = "Latinica" if other == "b" else "Ћирилица"
            site[f"/{folder}/{name}.html"] = page(f"{name} 1", texts, links)
    return site | {"/": site["/a/svetionik.html"]}


def tetum_site() -> dict[str, Reply]:
    """Pages in English, and pages that declare Tetum."""
    site = {"/robots.txt": MISSING}
    for lang in ("en", "tet"):
        for document in DOCUMENTS:
            texts = document.en if lang == "en" else tuple(map(strange, document.fr))
            names = [f"/{lang}/{other.name}.html" for other in DOCUMENTS]
            links = {name: f"{number}" for number, name in enumerate(names)}
            site[f"/{lang}/{document.name}.html"] = page(document.name, texts, links, lang)
    both = {f"/{lang}/{DOCUMENTS[0].name}.html": lang for lang in ("en", "tet")}
    return site | {"/": page("Home", DOCUMENTS[0].en, both, "en")}


def mined(site: dict[str, Reply], langs: str, folder: Path) -> list[dict[str, str]]:
    with serve(site) as server:
        result = run(
            "mine", server.url, "--langs", langs, "--out", folder, "--delay", 0,
            "--allow-private", "--quiet",
        )  # fmt: skip
    assert result.exit_code == 0, result.output
    return rows(folder / "pairs.tsv")


def path(url: str) -> str:
    return "/" + url.split("/", 3)[3]


def test_both_scripts_of_a_language_are_mined(tmp_path: Path) -> None:
    pairs = mined(serbian_site(), "sr-Cyrl,sr-Latn", tmp_path / "run")
    assert {(pair["left_lang"], pair["right_lang"]) for pair in pairs} == {("sr-Cyrl", "sr-Latn")}
    wanted = {(f"/a/{name}.html", f"/b/{name}.html") for name in SERBIAN}
    got = {(path(pair["left_url"]), path(pair["right_url"])) for pair in pairs}
    assert len(got & wanted) >= 4
    segments = [row for row in rows(tmp_path / "run" / "corpus.tsv") if len(row["left"]) > 20]
    assert len(segments) >= 10
    for segment in segments:
        assert segment["left"].translate(TO_LATIN) == segment["right"]


def test_declared_language_counts_if_text_cannot_be_identified(tmp_path: Path) -> None:
    pairs = mined(tetum_site(), "en,tet", tmp_path / "run")
    got = {(path(pair["left_url"]), path(pair["right_url"])) for pair in pairs}
    wanted = {(f"/en/{each.name}.html", f"/tet/{each.name}.html") for each in DOCUMENTS}
    assert len(got & wanted) > len(wanted) // 2
    assert len(rows(tmp_path / "run" / "corpus.tsv")) > 5  # a cipher of few pages is doubtful
    langs = query(tmp_path / "run", "SELECT lang, count(*) FROM pages GROUP BY lang")
    assert dict(langs)["tet"] == len(DOCUMENTS)
