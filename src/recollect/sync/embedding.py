"""Embed texts although some of them may be refused."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from recollect.embed.base import Provider
from recollect.embed.passages import embed_passages
from recollect.errors import EmbeddingError, ModelFilesError

_FEW = 4
_HOPELESS = 5
"""Failures in a row before anything was embedded that mean that the service does not work at all: all
texts at once, each half, and the two shortest, which are the least likely to be refused for themselves.
A few texts are all tried one by one."""

_MOST_FAILURES = 100
"""Calls that may fail for one group of texts. Finding one text among 256 takes eight."""


def embed_texts(
    provider: Provider, texts: Mapping[str, str]
) -> tuple[dict[str, bytes], EmbeddingError | None]:
    """Return the packed vectors of texts by their keys, without those that the provider refuses.

    What fails is tried again in halves, down to single texts. The error says why the first one failed.
    It is raised if nothing can be embedded, because then it is not the texts.
    """
    if not texts:
        return {}, None
    try:
        return _embedded(provider, texts, list(texts)), None
    except ModelFilesError:
        raise
    except EmbeddingError as error:
        reason = error
    shortest = sorted(texts, key=lambda key: len(texts[key]))[:2] if len(texts) > _FEW else []
    parts = deque([*_halves(list(texts)), *([key] for key in shortest)])
    done: dict[str, bytes] = {}
    failures = 1
    while parts and failures < _MOST_FAILURES:
        part = [key for key in parts.popleft() if key not in done]
        try:
            done |= _embedded(provider, texts, part)
        except EmbeddingError:
            failures += 1
            parts.extend(_halves(part))
        if not done and failures >= _HOPELESS and len(texts) > _FEW:
            break
    if not done:
        raise reason
    return done, reason


def _embedded(provider: Provider, texts: Mapping[str, str], keys: Sequence[str]) -> dict[str, bytes]:
    if not keys:
        return {}
    return dict(zip(keys, embed_passages(provider, [texts[key] for key in keys]), strict=True))


def _halves(keys: list[str]) -> list[list[str]]:
    middle = len(keys) // 2
    return [keys[:middle], keys[middle:]] if middle else []
