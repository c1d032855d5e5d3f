"""Discovery policies: they find bilingual sites on the web."""
