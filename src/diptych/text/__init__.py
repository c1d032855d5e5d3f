"""Strings and URLs: normal forms, words, sentences, lengths, spans, edit rules of URLs."""
