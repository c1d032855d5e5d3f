"""Languages of the built sites: their codes, their names in switchers, what detection may say."""

from __future__ import annotations

from html import escape

__all__ = ["STYLES", "code_of", "detected_as", "label", "own_name"]

STYLES = ("text", "code", "english", "img")
"""how a switcher can show a language"""

_OWN_NAMES = {
    "en": "English", "fr": "Français", "de": "Deutsch", "es": "Español", "it": "Italiano",
    "pt": "Português", "pt-br": "Português do Brasil", "ru": "Русский", "uk": "Українська",
    "ja": "日本語", "ko": "한국어", "zh-cn": "简体中文", "zh-tw": "繁體中文", "el": "Ελληνικά",
    "ar": "العربية", "fa": "فارسی", "he": "עברית", "hi": "हिन्दी", "th": "ไทย", "vi": "Tiếng Việt",
    "nl": "Nederlands", "sv": "Svenska", "da": "Dansk", "nb": "Norsk bokmål", "nn": "Nynorsk",
    "fi": "Suomi", "pl": "Polski", "cs": "Čeština", "sk": "Slovenčina", "hu": "Magyar",
    "ro": "Română", "bg": "Български", "sr": "Српски", "hr": "Hrvatski", "sl": "Slovenščina",
    "lt": "Lietuvių", "lv": "Latviešu", "et": "Eesti", "tr": "Türkçe", "id": "Bahasa Indonesia",
    "ca": "Català", "gl": "Galego", "eu": "Euskara", "eo": "Esperanto", "cy": "Cymraeg",
    "km": "ភាសាខ្មែរ", "te": "తెలుగు", "ta": "தமிழ்", "kn": "ಕನ್ನಡ", "ml": "മലയാളം",
    "mr": "मराठी", "bn": "বাংলা", "gu": "ગુજરાતી", "pa": "ਪੰਜਾਬੀ", "be": "Беларуская",
    "mk": "Македонски",
}  # fmt: skip
_ENGLISH_NAMES = {
    "en": "English", "fr": "French", "de": "German", "es": "Spanish", "it": "Italian",
    "pt": "Portuguese", "pt-br": "Brazilian Portuguese", "ru": "Russian", "ja": "Japanese",
    "ko": "Korean", "zh-cn": "Chinese", "zh-tw": "Traditional Chinese", "el": "Greek",
    "ar": "Arabic", "cy": "Welsh", "nl": "Dutch", "pl": "Polish", "cs": "Czech", "sv": "Swedish",
}  # fmt: skip
_ALIASES = {
    "english": "en", "french": "fr", "german": "de", "spanish": "es", "polish": "pl",
    "japanese": "ja", "c": "en", "eng": "en", "fra": "fr", "gr": "el", "cn": "zh-cn", "sp": "es",
    "zh": "zh-cn", "zh-hans": "zh-cn", "zh-hans-cn": "zh-cn", "zh-hant": "zh-tw", "no": "nb",
    "nb-no": "nb", "sr-sp": "sr", "sp-sp": "es", "pt-pt": "pt",
}  # fmt: skip
"""names of folders and files that are no codes, or other codes -> the code that is used here"""
_WITH_REGION = frozenset({"pt-br", "zh-cn", "zh-tw", "zh-hk", "sr-latn", "ca-valencia"})
"""codes that differ from the language without its region; other regions are cut off"""
_DETECTED = {
    "zh-cn": {"zh"}, "zh-tw": {"zh-Hant", "zh"}, "zh-hk": {"zh-Hant"}, "pt-br": {"pt"},
    "nb": {"no", "nb", "nn", "da"}, "nn": {"nn", "no", "nb"}, "sr-latn": {"sr", "hr", "bs"},
    "hr": {"hr", "bs", "sr"}, "ca-valencia": {"ca"}, "id": {"id", "ms"}, "he": {"iw", "he"},
    "ms": {"ms", "id"}, "gl": {"gl", "pt"}, "jv": {"jw"},
}  # fmt: skip
"""code -> codes of CLD2 that agree with it, where that is not the code itself"""


def code_of(name: str) -> str:
    """The code of a language, from the name of a folder or file.

    >>> code_of("de_DE.UTF-8"), code_of("C"), code_of("pt_BR"), code_of("ca@valencia")
    ('de', 'en', 'pt-br', 'ca-valencia')
    """
    plain = name.split(".")[0].replace("_", "-").lower()
    plain = plain.replace("@latin", "-latn").replace("@valencia", "-valencia")
    code = _ALIASES.get(plain, plain)
    return code if code in _WITH_REGION else code.partition("-")[0]


def detected_as(lang: str) -> set[str]:
    """The answers of CLD2 that agree with a language.

    >>> sorted(detected_as("nn")), detected_as("fr")
    (['nb', 'nn', 'no'], {'fr'})
    """
    return _DETECTED.get(lang, {lang})


def own_name(lang: str) -> str:
    """The name of a language in itself; its code if that is not known."""
    return _OWN_NAMES.get(lang, lang)


def label(lang: str, style: str) -> str:
    """The HTML by which a switcher shows a language.

    >>> label("fr", "text"), label("fr", "code"), label("fr", "english")
    ('Français', 'FR', 'French')
    >>> label("fr", "img")
    '<img src="/flags/fr.png" alt="French">'
    """
    english = _ENGLISH_NAMES.get(lang, own_name(lang))
    if style == "code":
        return lang.upper()
    if style == "english":
        return english
    if style == "img":
        return f'<img src="/flags/{lang}.png" alt="{escape(english)}">'
    return escape(own_name(lang))
