"""An encoder of a few thousand random weights, in the form of XLM-RoBERTa."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import ModuleType

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
WORDS = ["a", "b", "c", "en", "fr", "de", "org", "com", "one", "two", "three", *"/._-?=&0123456789"]


def import_torch() -> ModuleType:
    """PyTorch, which only the tests with the fixture `torch` need."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the libraries warn themselves of when imported
        import torch
        import transformers  # noqa: F401
    torch.set_num_threads(1)  # threads that wait for each other are slow on a busy machine
    return torch


def make_encoder(folder: Path) -> Path:
    """Write a random XLM-RoBERTa with a vocabulary of words; for tests with the fixture `torch`."""
    import tokenizers
    import torch
    import transformers

    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *WORDS])}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    inner.post_processor = tokenizers.processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", cls_token="<s>", eos_token="</s>",
        sep_token="</s>", pad_token="<pad>", unk_token="<unk>",
    ).save_pretrained(str(folder))  # fmt: skip
    torch.manual_seed(0)
    # Weights larger than usual: with so few of them the signal would be lost.
    config = transformers.XLMRobertaConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=66, pad_token_id=1, bos_token_id=0,
        eos_token_id=2, type_vocab_size=1, initializer_range=0.3, hidden_dropout_prob=0.0,
    )  # fmt: skip
    transformers.XLMRobertaModel(config).save_pretrained(str(folder))
    return folder
