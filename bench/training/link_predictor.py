"""Train the link predictor that comes with the package, on families that nothing is measured on.

    python -m bench.training.link_predictor [--out FOLDER] [--seed N]

Rows are the links of built sites, with the language of the page they lead to as truth, each asked
for several pairs of languages; and links of made-up pages with the switchers of common content
systems in many languages, among links that only look like them.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.sites.built import built_folder, built_sites
from bench.sites.detect_sites import TRAINING, TrueSite, read, true_site
from bench.support.paths import SOURCE
from bench.support.processes import give_up
from bench.training.link_svm import LabelledLink, fit
from diptych.language.codes import primary
from diptych.language.marks import HABITS, marks_of
from diptych.language.names import language_names
from diptych.stages.detect.predictor.contexts import Question, features_of_links
from diptych.stages.detect.predictor.model import LinkPredictor, to_json
from diptych.stages.detect.shared.naming import country_languages
from diptych.text.urls import normalise
from diptych.types import Link, Page, PageRecord, Url

PAGES = 4  # of a language of a site
NEGATIVES = 25  # links of a page that lead nowhere new, of those that name no language
MADE_UP = 1500  # pages
MADE = "made up"
PHOTOS = ("jpg", "jpg", "jpg", "png")  # what photographs are kept as
WORTH = 3.0
"""how much more a right link counts: a lost one loses a site, a wrong one costs a download"""
_COMMON = tuple(
    "en fr de es it pt nl pl cs sv da no fi hu ro hr sl sk bg ru uk sr el tr ar he fa hi bn ta th"
    " vi id ms ja ko zh ca eu gl cy ga et lv lt is mt sq mk ka hy az kk sw af eo".split()
)
_FLAGS = {
    "en": ("gb", "us", "uk"), "de": ("de", "at"), "fr": ("fr", "ca"), "es": ("es", "mx"),
    "pt": ("pt", "br"), "ja": ("jp",), "zh": ("cn", "tw"), "ko": ("kr",), "cs": ("cz",),
    "da": ("dk",), "sv": ("se",), "el": ("gr",), "uk": ("ua",), "he": ("il",), "ar": ("sa",),
    "et": ("ee",), "sl": ("si",), "sr": ("rs",), "hi": ("in",), "vi": ("vn",), "fa": ("ir",),
}  # fmt: skip
_VERSIONS = ("{} version", "Version {}", "{} site", "In {}", "{}.", "Site in {}", "View in {}",
             "Switch to {}", "Read this in {}", "→ {}", "[{}]", "({})", "{} ▾", "En {}",
             "Versión en {}", "Versione {}", "Auf {}", "På {}", "Wersja {}", "{} verze",
             "In het {}", "Sitio en {}", "Page {}", "{} language", "{}a", "{}e",
             "{} página", "Versão em {}", "Leer en {}", "Lire en {}", "Ler em {}", "Auf {} lesen",
             "Leggi in {}", "Läs på {}", "Læs på {}", "Czytaj po {}", "Read in {}", "Ver en {}",
             "Click here for {}", "Читать на {}", "Version en {}", "This page in {}",
             # What one is to do there is said in any words.
             "Descubre en {}", "Continuar em {}", "Weiter auf {}", "Podívat se v {}",
             "Consulter en {}", "Bekijk ons in {}", "Vaata sait i {}", "Explore in {}",
             "Hyppää på {}", "Перейти на {}")  # fmt: skip
_TEASERS = (
    "{} courses", "{} restaurants in town", "Learn {} online", "{} wine and cheese",
    "Our {} department", "The {} Revolution", "{} literature of the 19th century",
    "A short history of the {} navy", "{} football results", "News from {} partners", "{} grammar",
    "Translated from the {}", "{} shepherd dogs", "Department of {}",
)  # fmt: skip
_CHORES = (
    "Contact", "About us", "Privacy policy", "News", "Products", "Search", "Sitemap", "Login",
    "Jobs", "Press", "Imprint", "Terms of use", "Home", "Events", "Support", "Download", "Blog",
    "FAQ", "Our team", "Services", "Next", "Previous", "Read more", "Subscribe", "Kontakt",
    "Accueil", "Impressum", "Inicio", "Nosotros", "Actualités", "Über uns", "Chi siamo",
    "Sobre nós", "Hjem", "Главная", "Контакты", "Новости", "お問い合わせ", "会社案内",
    "联系我们", "首页", "Αρχική",
    "اتصل بنا", "1", "2", "3", "IT support", "HR", "PR", "AR and VR", "To do", "My account",
    "It works", "No", "Go", "Me", "Us", "Is it safe?", "So what?", "As seen on TV",
)  # fmt: skip
_TITLES = (
    "The minister opened the new library on Monday",
    "How to choose a bicycle for the city",
    "Les habitants demandent une nouvelle école au centre",
    "Comment choisir un vélo pour la ville",
    "Die neue Bibliothek wurde am Montag eröffnet",
    "Wie man ein Fahrrad für die Stadt auswählt",
    "El ministro inauguró la nueva biblioteca el lunes",
    "Cómo elegir una bicicleta para la ciudad",
    "Il ministro ha inaugurato la nuova biblioteca lunedì",
    "O ministro inaugurou a nova biblioteca",
    "Министр открыл новую библиотеку в понедельник",
    "De minister opende de nieuwe bibliotheek",
    "Minister otworzył w poniedziałek nową bibliotekę",
    "Ministern invigde det nya biblioteket",
)
_TITLE_LANGS = ("en", "en", "fr", "fr", "de", "de", "es", "es", "it", "pt", "ru", "nl", "pl", "sv")
_SHORT_TITLES = (
    ("zh", "中文翻译"), ("zh", "新图书馆开放"), ("zh", "关于我们"), ("ja", "新しい図書館"),
    ("ja", "日本語の資料"), ("ja", "お知らせ"), ("ko", "새 도서관"), ("ko", "공지사항"),
    ("ru", "Новая школа"), ("ru", "О нас"),
    ("el", "Νέα βιβλιοθήκη"), ("el", "Σχετικά"), ("ar", "المكتبة الجديدة"), ("he", "הספרייה החדשה"),
    ("th", "ห้องสมุดใหม่"), ("hi", "नया पुस्तकालय"), ("bn", "নতুন গ্রন্থাগার"), ("ka", "ახალი ბიბლიოთეკა"),
    ("hy", "Նոր գրադարան"), ("uk", "Нова школа"), ("bg", "Нова библиотека"),
    ("fa", "کتابخانه جدید"), ("ta", "புதிய நூலகம்"), ("en", "New library"),
    ("fr", "Qui sommes-nous"), ("de", "Neue Bücherei"),
)  # fmt: skip
_CHORE_PATHS = ("contact", "about", "it/support", "hr/jobs", "my/account", "is-it-safe",
                "no-smoking", "news/2019", "ar/vr", "pl/sql", "in/store", "products",
                "de-facto", "tv/guide", "p/12", "go/to", "me", "blog/as-is",
                "faq", "id/77")  # fmt: skip


def real_rows(seed: int) -> Iterator[LabelledLink]:
    """The links of all built sites of the families to train on."""
    for folder in built_sites(built_folder()):
        family = json.loads((folder / "meta.json").read_text("utf-8"))["family"]
        if family not in TRAINING:
            continue
        yield from _of_site(true_site(folder.name), family, random.Random(f"{seed} {folder.name}"))


def _of_site(site: TrueSite, family: str, rng: random.Random) -> Iterator[LabelledLink]:
    langs = sorted({lang for group in site.groups.values() for lang in group})
    urls = [site.built.home]
    for lang in langs[:6]:
        own = sorted(url for file, url in site.urls.items() if site.langs[file] == lang)
        urls += rng.sample(own, min(PAGES, len(own)))
    for url in dict.fromkeys(urls):
        page = read(site.built, url, langs)
        if page is not None:
            known = [(link, site.lang_of(link.url)) for link in page.links if link.url != page.url]
            # A page that is not as it should be says nothing of the link that leads to it.
            links = [(link, lang) for link, lang in known if lang]
            for wanted, shown in _questions(page.lang, langs, rng):
                yield from _asked(page, links, Question.of(wanted, shown), family, rng)


def _questions(
    own: str, langs: Sequence[str], rng: random.Random
) -> Iterator[tuple[list[str], list[str]]]:
    """What may be asked at a page: languages that the site has, and some that it has not."""
    others = [lang for lang in langs if primary(lang) != primary(own or "x")]
    absent = [lang for lang in _COMMON if lang not in {primary(each) for each in langs}]
    if own:
        if others:
            yield [own, rng.choice(others)], [own]
        yield [own, rng.choice(absent)], [own]
    if len(others) > 1:
        pair = rng.sample(others, 2)
        yield pair, []
        yield pair, pair[:1]
    elif others:
        yield [others[0], rng.choice(absent)], []


def _asked(
    page: Page,
    links: Sequence[tuple[Link, str]],
    question: Question,
    group: str,
    rng: random.Random,
) -> Iterator[LabelledLink]:
    """The links of a page with their labels: all that may matter, and some of the others."""
    rows = features_of_links(page, [link for link, _ in links], question)
    plain: list[LabelledLink] = []
    for (_, lang), found in zip(links, rows, strict=True):
        if group.startswith(MADE):  # its words are those of this file
            found = frozenset(name for name in found if "=" not in name)
        row = LabelledLink(found, primary(lang) in question.missing, group)
        if row.label or any(name.endswith((":missing", ":third")) for name in found):
            yield row
        else:
            plain.append(row)
    yield from rng.sample(plain, min(NEGATIVES, len(plain)))


def made_up_rows(seed: int, most: int = MADE_UP) -> Iterator[LabelledLink]:
    """The links of made-up pages: a switcher of a content system, and all sorts of other links."""
    for number in range(most):
        rng = random.Random(f"{seed} made up {number}")
        yield from _made_up(number, rng)


def _made_up(number: int, rng: random.Random) -> Iterator[LabelledLink]:
    langs = rng.sample(_COMMON, rng.choice((1, 2, 2, 2, 3, 4, 6, 12)))
    own, silent = langs[0], rng.random() < 0.15
    base = f"http://www.shop{number}.{rng.choice(('com', 'org', 'net', 'eu', 'ca', 'ch'))}"
    pattern = rng.choice(_PATTERNS)
    path = rng.choice(("", "products", "about/history"))
    here = _address(base, pattern, own, path, rng)
    page = Page(PageRecord(here, "" if silent else own, (), "", 0, 5000, 3000, str(number)), ())
    at = rng.choice((path, path, "", "index.htm", "home.html"))
    links = _switcher(base, pattern, here, at, langs if silent else langs[1:], rng)
    noise = _noise(base, pattern, own, rng)
    links += noise
    rng.shuffle(links)
    titled = sorted({lang for _, lang in noise if lang != own})  # asked for now and then as well
    some = [*langs, *titled[:1]] if rng.random() < 0.5 else langs
    for wanted, shown in _questions("" if silent else own, some, rng):
        question = Question.of(wanted, shown)
        group = f"{MADE} {number % 40}"
        yield from _asked(page, links, question, group, rng)


_PATTERNS = (
    "dir", "dir", "region", "host", "parameter", "suffix", "dot", "opaque", "opaque", "opaque",
    "slug", "slug", "word", "word", "code3", "habit",
)  # fmt: skip


def _address(base: str, pattern: str, lang: str, path: str, rng: random.Random) -> Url:
    """A URL of a page in a language."""
    tail = f"/{path}" if path else "/"
    name = rng.choice(("lang", "language", "hl", "locale", "L", "setlang"))
    made = {
        "dir": f"{base}/{lang}{tail}",
        "region": f"{base}/{lang}-{_FLAGS.get(lang, (lang,))[0]}{tail}",
        "host": f"{base.replace('//www.', f'//{lang}.')}{tail}",
        "parameter": f"{base}{tail}?{name}={lang}",
        "suffix": f"{base}/{path or 'index'}_{lang}.html",
        "dot": f"{base}/{path or 'index'}.{lang}.php",
        "opaque": f"{base}/node/{rng.randrange(9999)}",
        "slug": f"{base}/{rng.choice(('a', 'b', 'c'))}{rng.randrange(999)}-page/",
        "word": f"{base}/{rng.choice(sorted(marks_of(lang)))}{tail}",
        "code3": f"{base}/{_of_kind(lang, 'code3')}{tail}",
        "habit": f"{base}/{rng.choice(HABITS.get(lang, (lang,)))}{tail}",
    }
    return normalise(made[pattern]) or Url(f"{base}/")


_STYLES = (
    "native", "english", "code", "flag", "flag", "land", "alt", "version", "version", "version",
    "wild", "bare",
)  # fmt: skip


def _of_kind(lang: str, kind: str) -> str:
    """The first mark of a kind of a language; its code if there is none."""
    return min((mark for mark, own in marks_of(lang).items() if own == kind), default=lang)


def _switcher(
    base: str, pattern: str, here: Url, path: str, langs: Sequence[str], rng: random.Random
) -> list[tuple[Link, str]]:
    """Links to the page, or the home page, in other languages, as content systems have them."""
    style = rng.choice(_STYLES)
    said = rng.choice(("none", "none", "hreflang", "alternate", "both"))
    links = []
    for lang in langs:
        url = _address(base, pattern, lang, path, rng)
        tag = rng.choice((lang, f"{lang}-{_FLAGS.get(lang, (lang,))[0].upper()}"))
        link = Link(url, **_label(lang, style, rng))
        if said in ("hreflang", "both"):
            link = link._replace(hreflang=tag)
        if url != here:
            if said != "alternate" or rng.random() < 0.5:
                links.append((link, lang))
            if said in ("alternate", "both"):
                links.append((Link(url, "alternate", tag), lang))
    return links


def _label(lang: str, style: str, rng: random.Random) -> dict[str, str]:
    """How a switcher shows a language."""
    names = sorted(language_names(lang, ("en",)))
    native = next((name for name, kind in marks_of(lang).items() if kind == "endonym"), names[0])
    english = sorted(language_names(lang, ("en",)) - {native})[:1] or names[:1]
    shown = rng.choice((native, native.title(), native.capitalize()))
    flag = rng.choice(_FLAGS.get(lang, (lang,)))
    folder = rng.choice(
        ("flags/", "img/", "images/flag_", "themes/x/", "flag-", "icons/lang-", "drapeau_", "gif/")
    )
    image = rng.choice((flag, lang, english[0].split()[0]))
    ending = rng.choice(("png", "gif", "svg"))
    source = f"/{folder}{image}.{ending}"
    lands = [land for land, spoken in country_languages().items() if spoken == lang] or [flag]
    if style == "wild":
        word = rng.choice(HABITS.get(lang, (lang,)))
        return {"anchor": rng.choice((word, word.upper(), word.title()))}
    return {
        "bare": {"anchor": rng.choice(("", "→", "Enter", "www"))},
        "native": {"anchor": shown},
        "english": {"anchor": english[0].title()},
        "code": {"anchor": rng.choice((lang, lang.upper()))},
        "flag": {"src": source},
        "land": {"src": f"/{folder}{rng.choice(lands)}.{rng.choice((ending, ending, 'jpg'))}"},
        "alt": {"src": source, "alt": rng.choice((shown, english[0].title(), lang))},
        "version": {
            "anchor": rng.choice(_VERSIONS).format(rng.choice((shown, english[0].title())))
        },
    }[style]


def _noise(base: str, pattern: str, own: str, rng: random.Random) -> list[tuple[Link, str]]:
    """Links that lead to no other language, whatever they say."""
    links = []
    for _ in range(rng.randrange(4, 20)):
        path = rng.choice((*_CHORE_PATHS, f"p{rng.randrange(999)}"))
        kind = pattern if rng.random() < 0.6 else rng.choice(("opaque", "plain", "plain"))
        url = _address(base, kind, own, path, rng) if kind != "plain" else Url(f"{base}/{path}")
        anchor, lang = rng.choice(_CHORES), own
        if rng.random() < 0.25:
            about = rng.choice(_COMMON)
            name = sorted(language_names(about, ("en",)))[0].title()
            anchor = rng.choice(_TEASERS).format(name)
            url = Url(f"{base}/{rng.choice(_CHORE_PATHS)}/{about}") if rng.random() < 0.3 else url
        elif rng.random() < 0.3:
            place = rng.randrange(len(_TITLES))
            anchor, lang = _TITLES[place], _TITLE_LANGS[place]
            url = _address(base, rng.choice(("opaque", "slug")), own, "", rng)
        elif rng.random() < 0.15:
            lang, anchor = rng.choice(_SHORT_TITLES)
            kind = rng.choice(("opaque", "slug", "plain"))
            url = Url(f"{base}/{path}") if kind == "plain" else _address(base, kind, own, "", rng)
        source = rng.choice(("", "", "", "/img/logo.png", "/img/no.gif", "/icons/en-tete.gif"))
        if rng.random() < 0.05:  # photographs of countries, with their names or without
            land = rng.choice(sorted(country_languages()))
            anchor, lang = rng.choice(("", land.title())), own
            url = Url(f"{base}/{rng.choice(('travel', 'hotels', 'p', 'tours'))}/{land}")
            source = f"/{rng.choice(('img', 'photos', 'thumbs'))}/{land}.{rng.choice(PHOTOS)}"
        links.append((Link(url, anchor=anchor, src=source), lang))
    return links


def main() -> None:
    """Train, say what was learned, write the model."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    shipped = SOURCE / "stages" / "detect" / "predictor" / "weights"
    parser.add_argument("--out", type=Path, default=shipped)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rows = list(real_rows(arguments.seed))
    if not rows:
        give_up("no site to train on: python -m bench.sites.detect_sites builds them")
    made = list(made_up_rows(arguments.seed))
    for name, some in (("real", rows), ("made up", made)):
        right = sum(row.label for row in some)
        print(f"{name}: {len(some)} links, {right} lead to a missing language")
    # The web is neither documentation nor made up: both count the same.
    share = len(rows) / len(made)
    rows += [row._replace(weight=share) for row in made]
    rows = [row._replace(weight=row.weight * WORTH) if row.label else row for row in rows]
    model = fit(rows, seed=arguments.seed)
    _tell(model, rows)
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "model.json").write_text(to_json(model), "utf-8")


def _tell(model: LinkPredictor, rows: Sequence[LabelledLink]) -> None:
    known = sorted(model.weights.items(), key=lambda item: -abs(item[1]))
    print(f"{len(known)} weights, bias {model.bias}, sigmoid {model.slope} {model.offset}")
    for name, weight in known[:90]:
        print(f"  {weight:+.3f} {name}")


if __name__ == "__main__":
    main()
