"""Discovery policies, which find bilingual sites on the web."""
