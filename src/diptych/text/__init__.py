"""Strings and URLs: normal forms, words, sentences, lengths, spans and URL edit rules."""
