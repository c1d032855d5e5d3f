"""Words shown to people for each reason, flag, kind of evidence and end of a crawl."""

from __future__ import annotations

from diptych.types import SiteEnd

REASONS = {
    "robots": "forbidden by robots.txt",
    "content_type": "not HTML",
    "not_html": "not HTML by their name",
    "dns": "host unknown",
    "connect": "no connection",
    "timeout": "no answer in time",
    "disconnected": "connection broke off",
    "tls": "TLS error",
    "protocol": "HTTP protocol error",
    "private_address": "on a private address (see --allow-private)",
    "too_large": "too large",
    "cut_off": "cut off before the end",
    "empty": "empty",
    "bad_redirect": "redirected to an invalid URL",
    "too_many_redirects": "redirected too often",
    "outside": "outside of the site",
    "not_archived": "not in the archives",
    "unreadable": "took too long to read",
    "trap_calendar": "endless calendar",
    "trap_dates": "endless dates",
    "trap_sort_order": "the same list in another order",
    "trap_repeating_path": "path that repeats itself",
    "trap_deep_path": "path too deep",
    "trap_parameters": "too many parameters",
    "copy": "copies of other pages",
    "other_language": "in other languages",
    "no_language": "too little text to tell the language",
    "no_partner": "without a counterpart",
    "unaligned": "sentences without a counterpart",
    "duplicate": "said elsewhere already",
    "low_score": "probably no translations",
    "mostly_digits": "mostly numbers",
    "mostly_markup": "mostly code",
    "mojibake": "with broken characters",
    "wrong_language": "not in their language",
    "identical": "the same on both sides",
    "no_letters": "without words",
    "length_ratio": "too unequal in length",
    "too_long": "too long",
    "partial": "only a part of the other page",
    "not_parallel": "not translations of each other",
    "too_little_text": "with too little text",
    "unknown_language": "in an unknown language",
    "same_language": "both in one language",
    "machine_translated": "with a machine translation on the page",
    "untranslated_parts": "translated in part",
    "one_sided_parts": "with text that the other page does not have",
    "http_404": "not found (404)",
    "no_connection": "no connection to the service",
    "not_asked": "not asked",
    "not_json": "answer of the service is not JSON",
    "wrong_shape": "answer of the service has no list of links",
    "moved": "moved to another site",
    "not tried": "not tried",
    "not fetched": "not fetched",
    "not_fetched": "not fetched",
    "one_language": "in one of the languages only",
    "other_languages": "in other languages",
    "no_candidate": "without a link that may lead to the other language",
    "no_text": "without text",
    "too_few_pages": "with too few pages in the other language",
    "single_page": "with a single page in the other language",
    "email": "with e-mail addresses",
    "phone": "with telephone numbers",
    "iban": "with bank account numbers",
    "card": "with card numbers",
    "noindex": "not to be indexed",
    "noarchive": "not to be archived",
    "noai": "not for machine learning (noai)",
    "noimageai": "whose images are not for machine learning",
    "tdm-reserved": "reserved from text and data mining",
    "no_archive": "whose archive is not among those given",
    "no_record": "whose page is not in the archives",
    "other_content": "whose page says something else now",
}
"""words for each `Reason`, and for marks and flags; a name without words is shown as it is"""

EVIDENCE = {
    "hreflang": "declared by hreflang",
    "switcher": "declared by a link named after the language",
    "keys": "a pairing key of the site's URLs",
    "langstrip": "the same URL but for a mark of the language",
    "url_model": "probability by the URLs alone",
    "shared": "words, numbers and files that are on both, by their rarity",
    "amount": "how much they share in all",
    "translated": "the same with words translated by the lexicon",
    "tags": "likeness of their HTML tags",
    "sizes": "difference of their lengths: 0 is none",
    "text": "logarithm of the letters of the shorter",
    "copied": "share of text that is the same on both",
    "title": "share of the words of the shorter title that are in both",
    "neighbours": "linked at the same place from paired pages",
    "siblings": "paired with the same page of a third language",
}
"""evidence for a pair in words: the meaning of its number"""


def in_words(reason: str) -> str:
    """A reason as people say it.

    >>> in_words("robots"), in_words("http_503"), in_words("licence:CC0-1.0")
    ('forbidden by robots.txt', 'answered 503', 'licence:CC0-1.0')
    """
    if reason.startswith("http_") and reason not in REASONS:
        return f"answered {reason[5:]}"
    return REASONS.get(reason, reason)


def end_in_words(site: str, end: SiteEnd) -> str:
    """Words for the end of the crawl of a site.

    >>> end_in_words("example.org", SiteEnd.PAGE_LIMIT)
    'example.org: page limit reached'
    """
    return f"{site}: {end.value}{' reached' if end.is_limit else ''}"
