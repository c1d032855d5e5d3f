"""Strings and URLs: normal forms, words, sentences, lengths, spans, URL edit rules."""
