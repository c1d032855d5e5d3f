"""Mining of sites that declare wrong facts about all their pages."""

from __future__ import annotations

import pytest
from support.bilingual import HOST, Pages, alternate, documents, html, mine, names

DOCUMENTS = documents()
HOMES = {
    f"/{lang}/": html(DOCUMENTS[0][lang][:2], lang=lang) for lang in ("en", "fr")
}  # with a text of their own


def site(*, head: str = "", lang: str = "", hreflang: str = "") -> Pages:
    """All documents but the first at /en/NAME and /fr/NAME, with wrong declarations.

    `hreflang` is `home`, where all pages name the home pages, or `swapped`, where the English page
    is said to be French and the French one English.
    """
    pages = dict(HOMES)
    for document in DOCUMENTS[1:]:
        for own, other in (("en", "fr"), ("fr", "en")):
            links = head
            if hreflang == "home":
                links += alternate(other, f"/{other}/")
            elif hreflang:
                links += alternate(own, f"/{other}/{document.name}")
                links += alternate(other, f"/{own}/{document.name}")
            page = html(document[own], lang=lang or own, head=links)
            pages[f"/{own}/{document.name}"] = page
    return pages


CANONICAL = f'<link rel="canonical" href="{HOST}/en/">'
COUNT = len(DOCUMENTS) - 1
CASES = {
    "canonical": (
        site(head=CANONICAL),
        f"the canonical links of {2 * COUNT} pages all point to {HOST}/en/: ignored",
    ),
    "html lang": (
        site(lang="en"),
        f"html lang says en on {2 * COUNT + 1} pages, but {COUNT} of them are in fr: ignored",
    ),
    "og:locale": (site(head='<meta property="og:locale" content="de_DE">'), ""),
    "hreflang to the home page": (
        site(hreflang="home"),
        f"{2 * COUNT} of {2 * COUNT} hreflang links declare a page as the translation of many",
    ),
    "hreflang swapped": (
        site(hreflang="swapped"),
        f"hreflang says en for {COUNT} pages, but {COUNT} of them are in fr: ignored",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_wrong_declarations_do_not_change_the_result(tmp_path, case: str) -> None:
    pages, said = CASES[case]
    mined = mine(tmp_path, pages)
    assert mined.pairs - {("/en/", "/fr/")} == names(but=[DOCUMENTS[0].name])
    report = (mined.folder / "report.html").read_text("utf-8")
    assert mined.said.count(said) == report.count(said) == 1 if said else True
    assert ("ignored" in mined.said) == bool(said)
    page = mined.explain(f"/fr/{DOCUMENTS[1].name}")
    assert ("(ignored: it has different text)" in page) == (case == "canonical")
