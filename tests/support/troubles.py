"""Small sites, each with one of the troubles that the sites of the web have."""

from __future__ import annotations

from dataclasses import replace

from support.replayed import HOME, HOME_TEXT, Plan, Site, both, html_of, slug, text_of

NETWORKS = ("facebook", "twitter")


def partly(translated: int, alone: int) -> dict[int, tuple[str, ...]]:
    """Documents in English of which some, evenly spread, are in French too."""
    count = translated + alone
    return {
        number: ("en", "fr") if number * translated // count > (number - 1) * translated // count
        else ("en",)
        for number in range(1, count + 1)
    }  # fmt: skip


USUAL = Plan(partly(14, 6))
"""14 of 20 documents are translated, and say so"""


def _odd(target: str, source: str) -> bool:
    """Half of the links of each page, always the same."""
    return (len(target) + len(source)) % 2 == 0


# -- several addresses of one page -----------------------------------------------------------------


def slashes() -> Site:
    """Half of the links lack the slash at the end, and are redirected."""
    site = replace(USUAL, href=lambda to, at: to[:-1] if _odd(to, at) and to != "/" else to).build()
    for url in [url for url in site.answers if url != site.home]:
        site.move(url[:-1], url)
    return site


def index_files() -> Site:
    """Half of the links name the index file, which is served as well."""
    site = replace(USUAL, href=lambda to, at: to + "index.html" if _odd(to, at) else to).build()
    for url, (name, html, _) in list(site.answers.items()):
        site.page(url + "index.html", name, html)
    return site


def shares() -> Site:
    """Each page links to itself with a parameter that changes nothing."""
    site = replace(
        USUAL, extra=lambda path, _: [(f"{path}?share={each}", each) for each in NETWORKS]
    ).build()
    for url, (name, html, _) in list(site.answers.items()):
        for each in NETWORKS:
            site.page(f"{url}?share={each}", name, html)
    return site


def _secure(to: str, at: str) -> str:
    return ("https" if _odd(to, at) else "http") + "://example.org" + to


def two_schemes() -> Site:
    """Half of the links are https, and both are served."""
    site = replace(USUAL, href=_secure).build()
    for url, (name, html, _) in list(site.answers.items()):
        site.page("https" + url[4:], name, html)
    return site


def moved_scheme() -> Site:
    """Half of the links are http, and are redirected to https."""
    site = two_schemes()
    for url in [url for url in site.answers if url.startswith("http:")]:
        site.move(url, "https" + url[4:])
    return site


def telling_parameter() -> Site:
    """The language is a parameter, and so is what changes nothing."""
    site = Site(pairs=[(f"en {n}", f"fr {n}") for n in range(1, 21)])

    def at(n: int, lang: str, more: str = "") -> str:
        return f"/view?id={n}&lang={lang}{more}"

    for n in range(1, 21):
        for lang in ("en", "fr"):
            links = [(at(n, other), other.upper()) for other in ("en", "fr") if other != lang]
            links += [(at(each, lang), text_of(each)[lang][0]) for each in (n + 1, n + 2, n + 3)]
            links += [(at(n, lang, f"&ref={each}"), each) for each in ("top", "foot")]
            html = html_of(lang, text_of(n)[lang], links)
            for more in ("", "&ref=top", "&ref=foot"):
                site.page(at(n, lang, more), f"{lang} {n}", html)
    site.page("/", "home", html_of("en", text_of(HOME_TEXT)["en"], [(at(1, "en"), "English")]))
    return site


def parts() -> Site:
    """A parameter that changes nothing of some documents is the second part of others."""
    site = Site(pairs=[("en home", "fr home")])
    for lang, other in (("en", "fr"), ("fr", "en")):
        first = [(f"/{lang}/read?id={n}", text_of(n)[lang][0]) for n in (1, 2, 3)]
        homes = [("/" if other == "en" else "/fr/", other.upper())]
        path = "/" if lang == "en" else "/fr/"
        site.page(path, f"{lang} home", html_of(lang, text_of(HOME_TEXT)[lang], homes + first))
        for n in range(1, 17):
            number = n + 500 if n % 2 else n
            for at, name, text in ((f"id={n}", n, n), (f"id={n}&part=2", number, number)):
                links = [(f"/{other}/read?{at}", other.upper()), (f"?id={n}&part=2", "2")]
                links += [(f"?id={each}", text_of(each)[lang][0]) for each in (n + 1, n + 3)]
                page = html_of(lang, text_of(text)[lang], links)
                site.page(f"/{lang}/read?{at}", f"{lang} {name}", page)
    site.pairs += [(f"en {n}", f"fr {n}") for n in (*range(1, 17), *range(501, 517, 2))]
    return site


def refreshed() -> Site:
    """Half of the links lead to pages that only refresh to the document."""
    site = replace(USUAL, href=lambda to, at: "/old" + to if _odd(to, at) and to != "/" else to)
    built = site.build()
    for url, (_, html, _) in list(built.answers.items()):
        path = url.removeprefix(HOME)
        lang = html.partition('lang="')[2][:2]
        stub = f"<html lang={lang}><meta http-equiv=refresh content='0; url={path}'></html>"
        built.page("/old" + path, "stub", stub)
    return built


# -- what is never there ---------------------------------------------------------------------------


def dead_folder() -> Site:
    """Each page links to three addresses of its own that do not exist."""
    return replace(USUAL, extra=_dead_links).build()


def _dead_links(path: str, lang: str) -> list[tuple[str, str]]:
    tags = [(f"/{lang}/tags/{slug(path)}-{place}", f"{lang} {place}") for place in range(2)]
    return [*tags, (path + "config", "config")]


def empty_pages() -> Site:
    """Each page links to two addresses of its own where a page without any text is."""
    site = replace(USUAL, extra=_shown).build()
    for url in list(site.answers):
        for target, _ in _shown(url.removeprefix(HOME), ""):
            site.page(target, f"empty {target}", f"<html><body><!-- {target} --></body></html>")
    return site


def _shown(path: str, lang: str) -> list[tuple[str, str]]:
    return [(f"/show/{slug(path)}-{place}/", f"{lang} {place}") for place in range(2)]


def foreign_dialog() -> Site:
    """All pages ask for consent to cookies in French, at greater length than they have text."""
    site = USUAL.build()
    said = " ".join(sentence for number in range(7000, 7006) for sentence in text_of(number)["fr"])
    dialog = f'<div class="cookie-banner"><p>{said}</p></div>'
    for url, (name, html, _) in list(site.answers.items()):
        page = html.replace("<main>", "<div>").replace("</main>", "</div>")
        site.page(url, name, page.replace("</body>", f"{dialog}</body>"))
    return site


def dead_alternates(path: str = "/") -> Site:
    """One page declares a thousand translations that do not exist."""
    site = USUAL.build()
    name, html, _ = site.answers[site.home[:-1] + path]
    dead = "".join(
        f'<link rel="alternate" hreflang="fr" href="{HOME}/fr/gone/{number}/">'
        for number in range(1000)
    )
    site.page(path, name, html.replace("</head>", f"{dead}</head>"))
    return site


def no_status() -> Site:
    """What does not exist is answered with one page that says so, as if it were one."""
    site = dead_folder()
    page = html_of(
        "en", ["Not found", "There is no such page here, we are sorry."], [("/", "Home")]
    )
    for path, lang in [(url.removeprefix(HOME), url[19:21]) for url in list(site.answers)]:
        for dead, _ in _dead_links(path, lang if lang == "fr" else "en"):
            site.page(dead, "not found", page)
    return site


def login() -> Site:
    """Each page links to a login that leads back to it, and is one page for all."""
    site = replace(USUAL, extra=lambda path, _: [(f"/login?next={slug(path)}", "login")]).build()
    page = html_of("en", ["Login", "Please give us your name and your password."], [("/", "Home")])
    for path in [url.removeprefix(HOME) for url in list(site.answers)]:
        site.move(f"/login?next={slug(path)}", "/login")
    site.page("/login", "login", page)
    return site


def dead_sitemap() -> Site:
    """A sitemap names two hundred pages that do not exist beside those that do."""
    site = USUAL.build()
    urls = [*(f"{HOME}/en/archive/{number}/" for number in range(200)), *site.answers]
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    site.page("/sitemap.xml", "sitemap", f"<urlset>{entries}</urlset>")
    return site


# -- wrong declarations ----------------------------------------------------------------------------


def wrong_canonical() -> Site:
    """All pages name the home page as canonical."""
    return replace(USUAL, head=f'<link rel="canonical" href="{HOME}/">').build()


def wrong_alternates() -> Site:
    """All pages name the French home page as their translation; links name the right one."""
    head = f'<link rel="alternate" hreflang="fr" href="{HOME}/fr/">'
    return replace(USUAL, declares="switcher", head=head).build()


def english_canonical() -> Site:
    """French pages name the English ones as canonical."""
    site = USUAL.build()
    for number, langs in USUAL.documents.items():
        if "fr" in langs:
            path = USUAL.path(number, "fr")
            name, html, _ = site.answers[site.home[:-1] + path]
            told = f'<link rel="canonical" href="{HOME}{USUAL.path(number, "en")}">'
            site.page(path, name, html.replace("</head>", f"{told}</head>"))
    return site


# -- languages -------------------------------------------------------------------------------------


def small_language(declares: str = "alternate") -> Site:
    """14 of 64 documents are in French too."""
    return Plan(partly(14, 50), declares=declares).build()


def third_language() -> Site:
    """All documents are in German too, half of them in French."""
    langs = {number: ("en", "fr", "de") if number % 2 else ("en", "de") for number in range(1, 31)}
    return Plan(langs, langs=("en", "fr", "de")).build()


def untranslated() -> Site:
    """Half of the pages in the French folder are in English."""
    documents = both(26)
    return Plan(
        documents, written={("fr", number): "en" for number in documents if number % 2}
    ).build()


def tag_pages() -> Site:
    """Each document has two tags; their pages repeat what documents say."""
    tagged = replace(USUAL, extra=_tags)
    site = tagged.build()
    for number, langs in tagged.documents.items():
        for lang in langs:
            for place, (path, words) in enumerate(_tags(tagged.path(number, lang), lang)):
                near = [
                    each
                    for each in (number, number + 1 + place)
                    if lang in tagged.documents.get(each, ())
                ]
                text = [words, *(text_of(each)[lang][1] for each in near)]
                links = [(tagged.path(each, lang), text_of(each)[lang][0]) for each in near]
                site.page(path, f"{path} {lang}", html_of(lang, text, links))
    return site


def _tags(path: str, lang: str) -> list[tuple[str, str]]:
    if path.count("/") < 4 or "/page/" in path:
        return []
    return [(f"/{lang}/tag/{slug(path)}-{place}/", f"{lang} {place}") for place in range(2)]


def behind_lists() -> Site:
    """Documents are linked from lists alone, four on each."""
    return Plan(both(20), per_list=3, is_chained=False).build()


# -- no pairs at all -------------------------------------------------------------------------------


def monolingual(count: int = 90) -> Site:
    """All is in English."""
    return Plan({number: ("en",) for number in range(1, count + 1)}, langs=("en",)).build()


def look_alike() -> Site:
    """All pages of the English folder are in French."""
    return Plan(both(45), langs=("fr", "en"), voices={"en": "fr"}).build()


def other_texts() -> Site:
    """Two folders in two languages, and no document is in both but the home page."""
    documents = {number: ("en",) if number % 2 else ("fr",) for number in range(1, 61)}
    return Plan(documents).build()


def stubs() -> Site:
    """Each page has a switcher to a page that says it is not translated yet."""
    site = replace(
        Plan({number: ("en",) for number in range(1, 71)}, langs=("en",)),
        extra=lambda path, _: [("/fr" + path.removeprefix("/en"), "Français")],
    ).build()
    text = ["Bientôt", "Cette page sera bientôt disponible en français, merci de votre patience."]
    for path in [url.removeprefix(HOME) for url in site.answers]:
        html = html_of("fr", text, [("/", "English")])
        site.page("/fr" + path.removeprefix("/en"), f"stub {path}", html)
    return site


def missing_translations() -> Site:
    """Each page declares a translation that does not exist."""
    plan = Plan({number: ("en",) for number in range(1, 71)}, langs=("en",))
    site = plan.build()
    for url, (name, html, _) in list(site.answers.items()):
        target = HOME + "/fr" + url.removeprefix(HOME).removeprefix("/en")
        told = f'<link rel="alternate" hreflang="fr" href="{target}">'
        site.page(url, name, html.replace("</head>", f"{told}</head>"))
    return site
