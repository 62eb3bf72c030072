"""Models and tokenizers of a few hundred kilobytes, made on the spot, so that most tests need no weights."""

from __future__ import annotations

from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

CHATML = (
    "{% for message in messages %}{% if loop.first and message['role'] != 'system' %}"
    "{{ '<|im_start|>system\nBe kind.<|im_end|>\n' }}{% endif %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
LINES = ["the cat sat on the mat\n\n", "system user assistant", "🔥 中文 नमस्ते", "  \n\n\n\n  spaces", "im_end im_start"]


def byte_level_tokenizer(template: str | None = CHATML) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer of 400 tokens; <tool_call> is a marker that is not flagged as special."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(LINES * 20, trainer)
    backend.add_tokens([AddedToken("<tool_call>", special=False)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<|endoftext|>")
    tokenizer.chat_template = template
    return tokenizer


def sentencepiece_tokenizer(template: str) -> PreTrainedTokenizerFast:
    """A BPE tokenizer of the SentencePiece kind: ▁ for a space, bytes as <0xNN>, <|user|> swallows space after it."""
    pieces = [
        "<unk>",
        "<s>",
        "</s>",
        "<|user|>",
        "<|end|>",
        *(f"<0x{byte:02X}>" for byte in range(256)),
        "▁",
        *"abcde\n",
    ]
    backend = Tokenizer(
        models.BPE({piece: id_ for id_, piece in enumerate(pieces)}, [], unk_token="<unk>", byte_fallback=True)
    )
    backend.normalizer = normalizers.Replace(" ", "▁")
    backend.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    backend.add_special_tokens([AddedToken("<|user|>", rstrip=True), AddedToken("<|end|>", lstrip=True), "<s>", "</s>"])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    tokenizer.chat_template = template
    return tokenizer


def save_toy_model(folder: Path, vocab_size: int = 512) -> Path:
    """A random Llama of two layers with the byte-level tokenizer, saved to `folder`."""
    tokenizer = byte_level_tokenizer()
    config = LlamaConfig(
        vocab_size=vocab_size,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
    )
    config.eos_token_id = tokenizer.eos_token_id
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
