"""The pages of a site that can be in a pair, and their languages."""

from __future__ import annotations

from collections import Counter

from diptych.language.codes import MIN_PAGE_SHARE, asked_language
from diptych.protocols import SiteView
from diptych.stages.pair.shared.memory import computed_once
from diptych.types import Url


def page_languages(site: SiteView) -> dict[Url, str]:
    """Map each page that is in one of the site's languages to that language.

    A partly translated page is in two languages.  It is assigned to the language in which the site
    has fewer monolingual pages, because untranslated parts are usually in the main language of the
    site.  Declared languages are ignored: they are part of the template, which is often left
    untranslated.
    """
    return computed_once(site, "languages", lambda: _page_languages(site))


def _page_languages(site: SiteView) -> dict[Url, str]:
    langs = site.langs
    found: dict[Url, str] = {}
    mixed: dict[Url, list[str]] = {}
    for url, record in site.pages.items():
        likely = (
            asked_language(lang, langs) for lang, score in record.langs if score >= MIN_PAGE_SHARE
        )
        names = list(dict.fromkeys(name for name in likely if name))
        if len(names) > 1:
            mixed[url] = names
        elif names or (lang := asked_language(record.lang, langs)):
            found[url] = names[0] if names else lang
    whole = Counter(found.values())
    for url, names in mixed.items():
        found[url] = min(names, key=lambda lang: (whole[lang], lang))
    return dict(sorted(found.items()))


def urls_by_language(site: SiteView) -> dict[str, list[Url]]:
    """Map each of the site's languages to the sorted URLs of the pages in it."""
    found: dict[str, list[Url]] = {lang: [] for lang in site.langs}
    for url, lang in page_languages(site).items():
        found[lang].append(url)
    return found
