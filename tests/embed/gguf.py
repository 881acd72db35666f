"""Tiny BERT models in real GGUF files, and the vectors and scores they must give, computed with numpy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_TEXT = """
    the a of to in and we chose postgres for billing water tomatoes before weekend train to cologne
    was late again server restart tonight key is under mat who when where database did pick , . ? ! -
"""
_PIECES = [chr(letter) for letter in range(ord("a"), ord("z") + 1)] + ["ing", "ed", "er"]
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_PAD, _UNKNOWN, _BEGIN, _END, _MASK = range(len(_SPECIAL))
_EPSILON = 1e-12


@dataclass(frozen=True)
class TinyBert:
    """The shape of a model; the seed decides its weights."""

    pooling: gguf.PoolingType | None = gguf.PoolingType.MEAN
    seed: int = 7
    dims: int = 32
    heads: int = 2
    layers: int = 2
    inner: int = 64
    context: int = 128
    architecture: str = "bert"

    def write(self, path: Path) -> Path:
        """Write the model to a file."""
        writer = gguf.GGUFWriter(path, self.architecture)
        writer.add_name("tiny")
        writer.add_context_length(self.context)
        writer.add_embedding_length(self.dims)
        writer.add_feed_forward_length(self.inner)
        writer.add_block_count(self.layers)
        writer.add_head_count(self.heads)
        writer.add_layer_norm_eps(_EPSILON)
        writer.add_causal_attention(False)
        if self.pooling is not None:
            writer.add_pooling_type(self.pooling)
        _add_vocabulary(writer)
        for name, weights in self.weights().items():
            writer.add_tensor(name, weights)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path

    def weights(self) -> dict[str, Floats]:
        """Return the tensors by their names in the file."""
        random = np.random.default_rng(self.seed)

        def drawn(*shape: int, spread: float = 0.3) -> Floats:
            return random.normal(0, spread, shape).astype(np.float32)

        tensors = {
            "token_embd.weight": drawn(len(vocabulary()), self.dims, spread=2),
            "position_embd.weight": drawn(self.context, self.dims),
            "token_types.weight": drawn(2, self.dims),
            "token_embd_norm.weight": 1 + drawn(self.dims),
            "token_embd_norm.bias": drawn(self.dims),
        }
        for layer in range(self.layers):
            for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
                tensors[f"blk.{layer}.{part}.weight"] = drawn(self.dims, self.dims)
                tensors[f"blk.{layer}.{part}.bias"] = drawn(self.dims)
            tensors[f"blk.{layer}.ffn_up.weight"] = drawn(self.inner, self.dims)
            tensors[f"blk.{layer}.ffn_up.bias"] = drawn(self.inner)
            tensors[f"blk.{layer}.ffn_down.weight"] = drawn(self.dims, self.inner)
            tensors[f"blk.{layer}.ffn_down.bias"] = drawn(self.dims)
            for norm in ("attn_output_norm", "layer_output_norm"):
                tensors[f"blk.{layer}.{norm}.weight"] = 1 + drawn(self.dims)
                tensors[f"blk.{layer}.{norm}.bias"] = drawn(self.dims)
        if self.pooling is gguf.PoolingType.RANK:
            tensors |= {"cls.weight": drawn(self.dims, self.dims), "cls.bias": drawn(self.dims)}
            tensors |= {"cls.output.weight": drawn(1, self.dims), "cls.output.bias": drawn(1)}
        return tensors

    def vector(self, text: str) -> Floats:
        """Return the unit vector that the model must give for lower-case words and punctuation."""
        state = self._states(token_ids(text), self.weights())
        pooled = state[0] if self.pooling is gguf.PoolingType.CLS else state.mean(axis=0)
        unit: Floats = pooled / np.linalg.norm(pooled)
        return unit

    def score(self, query: str, text: str) -> float:
        """Return the score that a reranker must give for lower-case words and punctuation."""
        weights = self.weights()
        first = self._states([*token_ids(query), *token_ids(text)[1:-1]], weights)[:1]
        return float(_linear(np.tanh(_linear(first, weights, "cls")), weights, "cls.output")[0, 0])

    def _states(self, ids: list[int], weights: dict[str, Floats]) -> Floats:
        state = weights["token_embd.weight"][ids] + weights["token_types.weight"][0]
        state = _normalised(state + weights["position_embd.weight"][: len(ids)], weights, "token_embd_norm")
        for layer in range(self.layers):
            state = self._after_layer(state, weights, f"blk.{layer}")
        return state

    def _after_layer(self, state: Floats, weights: dict[str, Floats], block: str) -> Floats:
        size = self.dims // self.heads
        query, key, value = (_linear(state, weights, f"{block}.attn_{part}") for part in "qkv")
        seen = []
        for head in range(self.heads):
            own = slice(head * size, (head + 1) * size)
            likeness = np.exp(query[:, own] @ key[:, own].T / np.sqrt(size))
            seen.append(likeness / likeness.sum(axis=1, keepdims=True) @ value[:, own])
        state = state + _linear(np.concatenate(seen, axis=1), weights, f"{block}.attn_output")
        state = _normalised(state, weights, f"{block}.attn_output_norm")
        raised = _linear(state, weights, f"{block}.ffn_up")
        bent = 0.5 * raised * (1 + np.tanh(np.sqrt(2 / np.pi) * (raised + 0.044715 * raised**3)))
        state = state + _linear(bent, weights, f"{block}.ffn_down")
        return _normalised(state, weights, f"{block}.layer_output_norm")


MEAN = TinyBert()
CLS = replace(MEAN, pooling=gguf.PoolingType.CLS)
RANK = replace(MEAN, pooling=gguf.PoolingType.RANK)


def vocabulary() -> list[str]:
    """Return the WordPiece vocabulary as a GGUF file spells it: `▁` begins a word."""
    whole = dict.fromkeys([*_TEXT.split(), *_PIECES])
    return [*_SPECIAL, *(f"\u2581{word}" for word in whole), *_PIECES]


def token_ids(text: str) -> list[int]:
    """Return the tokens of a text: of each word the longest known pieces, between the two marks."""
    known = {token: number for number, token in enumerate(vocabulary())}
    ids = [_BEGIN]
    for word in text.split():
        ids.extend(_word_ids(word, known))
    return [*ids, _END]


def _word_ids(word: str, known: dict[str, int]) -> list[int]:
    rest, ids = f"\u2581{word}", []
    while rest:
        piece = next((rest[:size] for size in range(len(rest), 0, -1) if rest[:size] in known), None)
        if piece is None:
            return [_UNKNOWN]
        ids.append(known[piece])
        rest = rest[len(piece) :]
    return ids


def _add_vocabulary(writer: Any) -> None:
    tokens = vocabulary()
    types = [gguf.TokenType.CONTROL] * len(_SPECIAL)
    types[_UNKNOWN] = gguf.TokenType.UNKNOWN
    types += [gguf.TokenType.NORMAL] * (len(tokens) - len(_SPECIAL))
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_type_count(2)
    writer.add_pad_token_id(_PAD)
    writer.add_unk_token_id(_UNKNOWN)
    writer.add_bos_token_id(_BEGIN)
    writer.add_sep_token_id(_END)
    writer.add_eos_token_id(_END)
    writer.add_mask_token_id(_MASK)


def _linear(state: Floats, weights: dict[str, Floats], name: str) -> Floats:
    result: Floats = state @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return result


def _normalised(state: Floats, weights: dict[str, Floats], name: str) -> Floats:
    centred = state - state.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + _EPSILON)
    result: Floats = scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return result
