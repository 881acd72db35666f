"""The arithmetic of the Universal Sentence Encoder multilingual v3, in numpy.

Every token becomes an embedding and three convolutions over its neighbours (windows of 2, 3
and 5 tokens, two layers deep); these features are normalised, summed over the text and sent
through a few dense layers. Whatever depends on a token alone is done once for each distinct
token of a batch: dequantising, projecting, and the products of the first convolution, whose
output is a sum of one product for each place of its window. Both layers are then worked out
once for each distinct surrounding of a token: a passage and its sentences share most of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memlines.embed.builtin.vocabulary import read_normaliser, read_pieces
from memlines.records import dataclass

Floats = NDArray[np.float32]
Ids = NDArray[np.int32]
Places = NDArray[np.intp]

DIMS = 512
FEATURES = 1280

REACH = 4
"""How far to either side a token's features depend on its neighbours: two layers of two."""

_TABLES = 17
_TABLE_ROWS = 7530
_WIDTH = 256

_REACH_OF_LAYER = 2
_GAP = 2
"""Empty rows between segments, so that no window reaches from one into the next."""

_NO_TOKEN = -1


class _Branch(NamedTuple):
    """A convolution: its window, how many places of it lie to the left, its first place of ten."""

    window: int
    left: int
    first: int


_BRANCHES = (_Branch(2, 0, 0), _Branch(3, 1, 2), _Branch(5, 2, 5))


@dataclass(frozen=True, slots=True)
class Weights:
    """The model's numbers, laid out the way they are used.

    Row `id` of `table` is the quantised embedding of a token, with factor and offset
    `id % 17`. `project*` make the inputs of the three branches side by side. `first` holds
    a 256 by 256 matrix for each of the ten places of the three windows, `second` the same
    matrices below each other. `gain` and `shift` belong to the norm of a token's features,
    `pool*` to their sum, `hidden_*` and `last_*` to the dense layers. `piece*` is the sorted
    vocabulary, and `normaliser` how sentencepiece normalises a text.
    """

    table: NDArray[np.uint8]
    scale: Floats
    offset: Floats
    project: Floats
    project_bias: Floats
    project_gain: Floats
    project_shift: Floats
    first: Floats
    first_bias: Floats
    second: Floats
    second_bias: Floats
    gain: Floats
    shift: Floats
    pool: Floats
    pool_bias: Floats
    hidden_in: Floats
    hidden_out: Floats
    hidden_skip: Floats
    last_in: Floats
    last_out: Floats
    last_skip: Floats
    epsilon: Floats
    pieces: NDArray[np.str_]
    piece_ids: Ids
    piece_scores: Floats
    normaliser: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of one text's tokens.

    Tokens `start:stop` count; those around them are there to be their neighbours.
    """

    text: int
    ids: Ids
    start: int
    stop: int


def unpack(path: Path, vocabulary: Path) -> Weights:
    """Read the package's compressed weights and its vocabulary."""
    pieces, piece_ids, piece_scores = read_pieces(vocabulary)
    table = np.empty((_TABLES * _TABLE_ROWS, DIMS), dtype=np.uint8)
    with np.load(path, allow_pickle=False) as packed:

        def joined(name: str, axis: int = 0) -> Floats:
            parts: list[Floats] = [packed[f"{name}{branch.window}"] for branch in _BRANCHES]
            return np.concatenate(parts, axis=axis)

        for part in range(_TABLES):
            table[part::_TABLES] = packed[f"q{part + 1}"]
        return Weights(
            table=table,
            scale=packed["scale"],
            offset=packed["lo"],
            project=joined("proj", axis=1),
            project_bias=joined("proj_b"),
            project_gain=joined("ln_g"),
            project_shift=joined("ln_b"),
            first=joined("w1_").reshape(-1, _WIDTH, _WIDTH),
            first_bias=joined("b1_").reshape(-1, _WIDTH),
            second=joined("w2_"),
            second_bias=joined("b2_").reshape(-1, _WIDTH),
            gain=packed["ln_g"],
            shift=packed["ln_b"],
            pool=packed["cnn_W"],
            pool_bias=packed["cnn_b"],
            hidden_in=packed["d0"],
            hidden_out=packed["d1"],
            hidden_skip=packed["p1"],
            last_in=packed["d2"],
            last_out=packed["d3"],
            last_skip=packed["p3"],
            epsilon=packed["eps"].astype(np.float32),
            pieces=pieces,
            piece_ids=piece_ids,
            piece_scores=piece_scores,
            normaliser=read_normaliser(vocabulary),
        )


def segments_of(text: int, ids: Ids, size: int) -> list[Segment]:
    """Cut a text's tokens into segments whose feature sums add up to the whole text's.

    Each segment brings the neighbours its outer tokens can see, so the cuts leave no trace.
    """
    return [
        Segment(
            text=text,
            ids=ids[max(0, begin - REACH) : begin + size + REACH],
            start=min(begin, REACH),
            stop=min(begin, REACH) + min(size, len(ids) - begin),
        )
        for begin in range(0, len(ids), size)
    ]


def feature_sums(weights: Weights, segments: Sequence[Segment]) -> Floats:
    """Return the sum of the normalised features of each segment's tokens, shape (n, 1280).

    Gain and shift of the norm are left to `vectors_of`, where they cost one row a text.
    """
    tokens, begins = _laid_out(segments)
    # The empty rows hold -1, which sorts first: entry 0 of everything per distinct token.
    distinct, places = np.unique(tokens, return_inverse=True)
    embedding = _dequantised(weights, distinct)
    inputs = _projected(weights, embedding)
    near, places = _surroundings(places, len(distinct))
    hidden = [_first_layer(weights, number, branch, inputs, near) for number, branch in enumerate(_BRANCHES)]
    around, places = _surroundings(places, len(near))
    contextual = np.empty((len(around), len(_BRANCHES) * _WIDTH), dtype=np.float32)
    for number, branch in enumerate(_BRANCHES):
        columns = slice(number * _WIDTH, (number + 1) * _WIDTH)
        contextual[:, columns] = _second_layer(weights, number, branch, hidden[number], around)
    own = near[around[:, _REACH_OF_LAYER], _REACH_OF_LAYER]
    features = np.concatenate([embedding[own], contextual], axis=1)
    return _normalised_sums(weights, segments, begins, features, places)


def vectors_of(weights: Weights, sums: Floats, counts: NDArray[np.int64]) -> Floats:
    """Return the vectors of texts, not yet of unit length, from feature sums and token counts."""
    length = counts.astype(np.float32)[:, None]
    pooled: Floats = (sums * weights.gain + length * weights.shift) @ weights.pool
    pooled += length * weights.pool_bias
    pooled /= np.sqrt(length)
    hidden: Floats = pooled @ weights.hidden_skip
    inner = pooled @ weights.hidden_in
    hidden += np.maximum(inner, 0, out=inner) @ weights.hidden_out
    np.maximum(hidden, 0, out=hidden)
    vectors: Floats = hidden @ weights.last_skip
    inner = hidden @ weights.last_in
    vectors += np.maximum(inner, 0, out=inner) @ weights.last_out
    return np.tanh(vectors, out=vectors)


def _laid_out(segments: Sequence[Segment]) -> tuple[Ids, list[int]]:
    """Return all tokens in one array with gaps around the segments, and where each begins.

    Before the first and behind the last are as many empty rows as the two layers reach.
    """
    total = sum(len(segment.ids) + _GAP for segment in segments) - _GAP + 2 * REACH
    tokens = np.full(total, _NO_TOKEN, dtype=np.int32)
    begins = []
    row = REACH
    for segment in segments:
        tokens[row : row + len(segment.ids)] = segment.ids
        begins.append(row)
        row += len(segment.ids) + _GAP
    return tokens, begins


def _surroundings(places: Places, count: int) -> tuple[Places, Places]:
    """Return the distinct runs of five entries, and which of them is around each but the outer two.

    The entries are numbers below `count`, so five of them make one number, which is quick to compare.
    """
    runs = np.lib.stride_tricks.sliding_window_view(places, 2 * _REACH_OF_LAYER + 1)
    codes = runs @ (np.int64(count) ** np.arange(runs.shape[1]))
    _, first, around = np.unique(codes, return_index=True, return_inverse=True)
    return runs[first], around


def _dequantised(weights: Weights, ids: Ids) -> Floats:
    part = ids % _TABLES
    embedding = weights.table[ids].astype(np.float32)
    embedding *= weights.scale[part, None]
    embedding += weights.offset[part, None]
    return embedding


def _projected(weights: Weights, embedding: Floats) -> Floats:
    """Return the inputs of the three branches for each distinct token, zero for the gap."""
    inputs: Floats = embedding @ weights.project
    inputs += weights.project_bias
    inputs -= inputs.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", inputs, inputs) / inputs.shape[1]
    inputs /= np.sqrt(variance + weights.epsilon)[:, None]
    inputs *= weights.project_gain
    inputs += weights.project_shift
    inputs[0] = 0
    return inputs


def _first_layer(weights: Weights, number: int, branch: _Branch, inputs: Floats, near: Places) -> Floats:
    """Return the first convolution of a branch for tokens in their surroundings, with its input added."""
    own = inputs[:, number * _WIDTH : (number + 1) * _WIDTH]
    hidden = np.empty((len(near), _WIDTH), dtype=np.float32)
    hidden[:] = weights.first_bias[number]
    for place in range(branch.window):
        product: Floats = own @ weights.first[branch.first + place]
        hidden += product.take(near[:, _REACH_OF_LAYER + place - branch.left], axis=0)
    np.maximum(hidden, 0, out=hidden)
    hidden += own.take(near[:, _REACH_OF_LAYER], axis=0)
    hidden[near[:, _REACH_OF_LAYER] == 0] = 0  # the gaps
    return hidden


def _second_layer(weights: Weights, number: int, branch: _Branch, hidden: Floats, around: Places) -> Floats:
    """Return the second convolution of a branch for tokens in their surroundings, with its input added."""
    begin, size = _REACH_OF_LAYER - branch.left, branch.window * _WIDTH
    windows = hidden.take(around[:, begin : begin + branch.window], axis=0).reshape(-1, size)
    matrix = weights.second[branch.first * _WIDTH : branch.first * _WIDTH + size]
    result: Floats = windows @ matrix
    result += weights.second_bias[number]
    np.maximum(result, 0, out=result)
    result += hidden.take(around[:, _REACH_OF_LAYER], axis=0)
    return result


def _normalised_sums(
    weights: Weights,
    segments: Sequence[Segment],
    begins: Sequence[int],
    features: Floats,
    places: Places,
) -> Floats:
    """Normalise the features of tokens and sum them, without writing the normalised ones down.

    A token's normalised features are `(f - mean) / deviation`, so a segment's sum is a product
    of the features with the inverse deviations, less one number.
    """
    mean = features.mean(axis=1)
    square = np.einsum("ij,ij->i", features, features) / FEATURES
    inverse = 1 / np.sqrt(square - mean * mean + weights.epsilon)
    share = np.empty((len(segments), len(features)), dtype=np.float32)
    for index, (segment, begin) in enumerate(zip(segments, begins, strict=True)):
        own = places[begin - REACH + segment.start : begin - REACH + segment.stop]
        share[index] = np.bincount(own, minlength=len(features))
    share *= inverse
    sums: Floats = share @ features
    sums -= (share @ mean)[:, None]
    return sums
