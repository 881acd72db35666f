"""Decide whom `embeddings.provider: auto` stands for.

What the settings say about a service (address, model, key, headers) is used for the one service that it can
be meant for, or refused with an error that says what to set. It is never passed over: text must not go to
another address than the one that is written down.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from memlines.errors import EmbeddingError, ProviderUnusable
from memlines.settings import Embeddings
from memlines.settings.tree import SERVICES

AUTOMATIC = ("openai", "gemini", "voyage", "mistral")
"""Whom `auto` asks if it may and their key is there, in this order."""

_ON_THIS_MACHINE = ("local", "builtin")

_FAMILIES = {
    "local": r".+\.gguf",
    "openai": r"(openai/)?text-embedding-(3-.+|ada-002)",
    "gemini": r"(models/|google/)?gemini-.+",
    "voyage": r"(voyage/)?voyage-.+",
    "mistral": r"(mistral/)?(mistral|codestral)-embed.*",
}
"""The names of models that one provider alone has."""


def resolved(wanted: Embeddings, environ: Mapping[str, str]) -> tuple[Embeddings, EmbeddingError | None]:
    """Return the settings with a provider in the place of `auto`, and why it is not the first choice.

    A `ProviderUnusable` says what to set where the settings can be read in several ways, or name a place
    that text may not be sent to.
    """
    name = _named(wanted, environ)
    missing = _missing_file(wanted) if wanted.local.model_path else None
    if name and wanted.local.model_path and not missing and name != "local":
        raise _unclear("embeddings.local.model_path and the other settings name two providers")
    if name:
        return replace(wanted, provider=name), missing
    if wanted.local.model_path and not missing:
        return replace(wanted, provider="local"), None
    if wanted.remote_ok:
        for service in AUTOMATIC:
            if any(environ.get(variable, "").strip() for variable in SERVICES[service][2]):
                return replace(wanted, provider=service), missing
    return replace(wanted, provider="builtin"), missing


def is_pinned(wanted: Embeddings) -> bool:
    """Tell whether the settings say so much about the provider that `auto` has no choice."""
    return bool(wanted.base_url or wanted.model or wanted.api_key or wanted.headers)


def _named(wanted: Embeddings, environ: Mapping[str, str]) -> str:
    """Return the provider that address, model and key are for; nothing if none of them is set."""
    if wanted.base_url:
        return _at_address(wanted, wanted.base_url, environ)
    if wanted.model:
        return _of_model(wanted, wanted.model.strip())
    if is_pinned(wanted):
        what = "embeddings.api_key" if wanted.api_key else "embeddings.headers"
        raise _unclear(f"{what} is set, but not whom it is for")
    return ""


def _at_address(wanted: Embeddings, base_url: str, environ: Mapping[str, str]) -> str:
    from memlines.embed.remote.addresses import Address
    from memlines.embed.remote.catalogue import REMOTE

    address = Address.of(base_url, "embeddings.base_url")
    usual = {Address.of(REMOTE[name].load().base_url(environ), name).name: name for name in AUTOMATIC}
    name = usual.get(address.name, "openai-compatible")
    if not address.is_loopback and not wanted.remote_ok:
        raise _not_allowed(f"embeddings.base_url leads to {address.host}", name)
    return name


def _of_model(wanted: Embeddings, model: str) -> str:
    from memlines.embed.builtin.provider import BuiltinProvider

    families = {**_FAMILIES, "builtin": re.escape(BuiltinProvider.model)}
    name = next((name for name, names in families.items() if re.fullmatch(names, model.lower())), "")
    if not name:
        raise _unclear(f"embeddings.model is {model!r}, which several providers may have")
    if name in _ON_THIS_MACHINE:
        if wanted.api_key or wanted.headers:
            raise _unclear(f"embeddings.model is {model!r}, which takes neither a key nor headers")
        if name == "local" and wanted.local.model_path and not wanted.local.model_path.endswith(model):
            raise _unclear("embeddings.model and embeddings.local.model_path name two files")
    elif not wanted.remote_ok:
        raise _not_allowed(f"embeddings.model is {model!r}, a model of {name}", name)
    return name


def _missing_file(wanted: Embeddings) -> EmbeddingError | None:
    """Return why the model file of the settings cannot be used; nothing if it is there."""
    from memlines.embed.local.header import missing
    from memlines.embed.local.provider import model_file

    try:
        file = model_file(wanted)
    except EmbeddingError as error:
        return error
    return None if file.is_file() else missing(file)


def _unclear(what: str) -> ProviderUnusable:
    return ProviderUnusable(
        f"{what} (embeddings.provider is auto)",
        todo=f"Set embeddings.provider to one of: {', '.join((*_ON_THIS_MACHINE, *SERVICES))}",
    )


def _not_allowed(what: str, name: str) -> ProviderUnusable:
    return ProviderUnusable(
        f"{what}, but embeddings.provider is auto, which may not send text away from this machine",
        todo=f"Set embeddings.provider to {name}, or embeddings.remote_ok to true, if text may go there",
    )
