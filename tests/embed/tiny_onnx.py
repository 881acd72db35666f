"""A tiny cross-encoder in a real ONNX file: its score is how many words of the query a text repeats."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import TensorProto, helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

_WORDS = (
    "[PAD] [UNK] [CLS] [SEP] which database did billing pick train late tea postgres the was for we chose"
)
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def write(folder: Path, *, inputs: tuple[str, ...] = INPUTS, numbers: int = 1, padded_to: int = 512) -> Path:
    """Write the model and its tokenizer; with other `inputs` or `numbers` it is not a cross-encoder."""
    folder.mkdir(parents=True, exist_ok=True)
    _tokenizer(padded_to).save(str(folder / "tokenizer.json"))
    onnx.save(_model(inputs, numbers), str(folder / "model.onnx"))
    return folder


def score_of(query: str, text: str) -> float:
    """Return what the model gives a text of known words: pairs of equal words, and one of equal marks."""
    return 1.0 + sum(word == other for word in query.split() for other in text.split())


def _tokenizer(padded_to: int) -> Tokenizer:
    vocabulary = {word: number for number, word in enumerate(_WORDS.split())}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(mark, vocabulary[mark]) for mark in ("[CLS]", "[SEP]")],
    )
    tokenizer.enable_truncation(512)
    tokenizer.enable_padding(length=padded_to)  # as many published files do
    return tokenizer


def _model(inputs: tuple[str, ...], numbers: int) -> onnx.ModelProto:
    """Compare each word of the first part with each of the second, and count those that are equal."""
    node = helper.make_node
    nodes = [
        node("Unsqueeze", ["input_ids", "two"], ["across"]),
        node("Unsqueeze", ["input_ids", "one"], ["along"]),
        node("Equal", ["across", "along"], ["equal"]),
        node("Cast", ["equal"], ["pairs"], to=TensorProto.INT64),
        node("Sub", ["ones", "token_type_ids"], ["first"]),
        node("Mul", ["first", "attention_mask"], ["query"]),
        node("Mul", ["token_type_ids", "attention_mask"], ["text"]),
        node("Unsqueeze", ["query", "two"], ["query_across"]),
        node("Unsqueeze", ["text", "one"], ["text_along"]),
        node("Mul", ["query_across", "text_along"], ["both"]),
        node("Mul", ["pairs", "both"], ["found"]),
        node("ReduceSum", ["found", "each"], ["count"], keepdims=0),
        node("Cast", ["count"], ["score"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["score", "one"], ["column"]),
        node("Concat", ["column"] * numbers, ["logits"], axis=1),
    ]
    constants = {"one": [1], "two": [2], "each": [1, 2], "ones": [1]}
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", numbers])],
        [helper.make_tensor(name, TensorProto.INT64, [len(row)], row) for name, row in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
