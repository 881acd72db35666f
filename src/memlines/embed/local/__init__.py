"""The provider `local`: a model of your own, in a GGUF file, run by llama.cpp in this process."""

from __future__ import annotations

from memlines.embed.local.provider import LocalProvider, model_file

__all__ = ["LocalProvider", "model_file"]
