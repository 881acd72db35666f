"""Decide which provider turns text into vectors, and what may be sent where.

Text leaves this machine only for a provider that the settings name, as the first or as the fallback, or
that they allow `auto` to choose. Choosing loads neither numpy nor a model, so that status and words-only
search stay quick.

With `embeddings.provider: auto`, what the settings say about a service (address, model, key, headers) is
used for the one service that it can be meant for, or refused with an error that says what to set. It is
never passed over: text must not go to another address than the one that is written down.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec

from memlines.embed.base import Provider, embed_query
from memlines.errors import EmbeddingError, ProviderUnusable
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.settings.tree import BUILTIN_MODEL, SERVICES, Embeddings
from memlines.types import Space

AUTOMATIC = ("openai", "gemini", "voyage", "mistral")
"""The services that `auto` chooses if it may and their key is there, in this order."""

_ON_THIS_MACHINE = ("local", "builtin")

_FAMILIES = {
    "local": r".+\.gguf",
    "openai": r"(openai/)?text-embedding-(3-.+|ada-002)",
    "gemini": r"(models/|google/)?gemini-.+",
    "voyage": r"(voyage/)?voyage-.+",
    "mistral": r"(mistral/)?(mistral|codestral)-embed.*",
}
"""The names of models that one provider alone has."""

_PROBE = "memory"


@dataclass(frozen=True, slots=True)
class Choice:
    """The provider to use; none means search by words only."""

    requested: str
    """The name in the settings."""
    provider: Provider | None
    error: EmbeddingError | None = None
    """Why it is not the provider that was wanted, if it is not."""
    fallback: str = ""
    """The name of the provider that takes over if this one fails at work; empty if there is none."""

    @property
    def reason(self) -> str:
        """The same in a sentence; empty when all is as requested."""
        return str(self.error or "")


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether what the settings ask for is what serves; if not, why, and what to do about it."""

    ok: bool
    """Whether it is."""
    requested: str
    """What the settings name; `none` if vectors are switched off."""
    serving: str
    """What is used; `none` if search goes by words."""
    reason: str = ""
    """What was found out."""
    todo: str = ""
    code: str = ""
    """The code of the error, if there is one."""

    @property
    def message(self) -> str:
        """Return what was found out and what to do about it, as one text."""
        return f"{self.reason}. {self.todo}" if self.todo else self.reason


def choose(settings: Settings, environ: Mapping[str, str] = os.environ) -> Choice:
    """Return the provider that the settings ask for.

    This never fails: where a provider cannot work, its fallback takes its place, and without one search
    goes by words; `reason` says why.
    """
    requested = settings.embeddings.provider if settings.store.vector.enabled else "none"
    if requested == "none":
        return Choice(requested, None)
    passed_over = None
    try:
        if requested == "auto":
            settings, passed_over = _resolve_auto(settings, environ)
        wanted = settings.embeddings
        provider = make_provider(wanted.provider, settings, environ)
    except EmbeddingError as error:
        fallback = "builtin" if requested == "auto" else settings.embeddings.fallback
        if fallback in ("none", "auto"):
            return Choice(requested, None, error)
        try:
            return Choice(requested, make_provider(fallback, settings, environ), error)
        except EmbeddingError as second:
            if second.what == error.what:
                return Choice(requested, None, error)
            both = f"{error} The fallback cannot help either: {second.what}"
            return Choice(requested, None, ProviderUnusable(both, todo=second.todo))
    has_other = wanted.fallback not in ("none", "auto", wanted.provider)
    return Choice(requested, provider, passed_over, fallback=wanted.fallback if has_other else "")


def former_provider(
    space: Space, settings: Settings, environ: Mapping[str, str] = os.environ
) -> Provider | None:
    """Return the provider of vectors that an index still answers with, if the settings still allow it."""
    wanted = settings.embeddings
    is_pinned = wanted.base_url or wanted.model or wanted.api_key or wanted.headers  # `auto` has no choice
    may_choose = wanted.provider == "auto" and wanted.remote_ok and not is_pinned
    try:
        if wanted.provider == "auto":
            settings, _ = _resolve_auto(settings, environ)
            wanted = settings.embeddings
        allowed = {"builtin", "local", wanted.provider, wanted.fallback}
        if space.provider not in allowed and not (may_choose and space.provider in AUTOMATIC):
            return None
        return make_provider(space.provider, settings, environ, model=space.model)
    except EmbeddingError:
        return None


def make_provider(
    name: str, settings: Settings, environ: Mapping[str, str] = os.environ, model: str | None = None
) -> Provider:
    """Make a provider by its name; one that cannot work is an error."""
    wanted = settings.embeddings
    if name != wanted.provider:  # address, key and model in the settings belong to the one they name
        wanted = Embeddings(local=wanted.local, batch=wanted.batch, batch_size=wanted.batch_size)
    wanted = replace(wanted, model=model or wanted.model)
    if name == "builtin":
        from memlines.embed.builtin.files import BuiltinProvider

        return BuiltinProvider()
    if name == "local":
        from memlines.embed.local.provider import LocalProvider

        return LocalProvider(wanted)
    for package in ("numpy", "httpx2"):  # which an installation for words only leaves out
        if find_spec(package) is None:
            raise ProviderUnusable(
                f"the provider {name!r} needs the package {package}, which is not installed",
                todo="Run: pip install memlines (which adds what is missing), or set"
                " embeddings.provider to none",
            )
    from memlines.embed.remote.provider import RemoteProvider, model_name
    from memlines.embed.remote.services import REMOTE
    from memlines.embed.spending.budget import Budget
    from memlines.embed.spending.ledger import Ledger
    from memlines.text.redaction import rules_of

    api = REMOTE[name]
    budget = Budget(settings.spend, name, model_name(api, wanted), Ledger())
    return RemoteProvider(api, wanted, budget, environ, rules_of(settings.redaction.rules))


def probe(provider: Provider) -> str:
    """Have one word embedded and say what came of it; a provider that does not work is an error."""
    vector = embed_query(provider, _PROBE)
    given = f"; {provider.sends_to} was given the word {_PROBE!r}" if provider.sends_to else ""
    return f"it works and returns {len(vector)} numbers a text{given}"


def probe_embedding(choice: Choice, at_work: Provider | None, substitute: str, note: str) -> Probe:
    """Return whether the provider that the settings ask for makes vectors.

    `substitute` is the provider that took its place while it did not work, if one did, for the reason `note`.
    """
    requested = choice.requested
    serving = substitute or (at_work.id if at_work else "none")
    if choice.error is not None:
        return Probe(False, requested, serving, choice.error.what, choice.error.todo, choice.error.code)
    if at_work is None:
        return Probe(True, requested, "none", "there is no provider to ask; search goes by words")
    try:
        works = probe(at_work)
    except EmbeddingError as error:
        return Probe(False, requested, substitute or "none", error.what, error.todo, error.code)
    if substitute:
        reason = f"{at_work.id} works again, but {substitute} still answers, because of this: {note}"
        return Probe(False, requested, serving, reason, "Run 'memlines sync'", EmbeddingError.code)
    return Probe(True, requested, serving, works)


def _resolve_auto(settings: Settings, environ: Mapping[str, str]) -> tuple[Settings, EmbeddingError | None]:
    """Return the settings with a provider in the place of `auto`, and why it is not the first choice.

    A `ProviderUnusable` says what to set where the settings can be read in several ways, or name a place
    that text may not be sent to.
    """
    wanted = settings.embeddings
    name = _named_provider(wanted, environ)
    missing: EmbeddingError | None = None
    if wanted.local.model_path:
        from memlines.embed.local.header import missing_model
        from memlines.embed.local.provider import model_file

        try:
            file = model_file(wanted)
            missing = None if file.is_file() else missing_model(file)
        except EmbeddingError as error:
            missing = error
    if wanted.local.model_path and not missing:
        if name not in ("", "local"):
            raise _unclear("embeddings.local.model_path and the other settings name two providers")
        name = "local"
    if not name and wanted.remote_ok:
        with_keys = (
            service
            for service in AUTOMATIC
            if any(environ.get(variable, "").strip() for variable in SERVICES[service][1])
        )
        name = next(with_keys, "")
    return replace(settings, embeddings=replace(wanted, provider=name or "builtin")), missing


def _named_provider(wanted: Embeddings, environ: Mapping[str, str]) -> str:
    """Return the provider that address, model and key are for; empty if none of them is set."""
    if wanted.base_url:
        from memlines.embed.remote.http import Address
        from memlines.embed.remote.services import REMOTE

        address = Address.of(wanted.base_url, "embeddings.base_url")
        usual = {Address.of(REMOTE[name].base_url(environ), name).name: name for name in AUTOMATIC}
        name = usual.get(address.name, "openai-compatible")
        if not address.is_loopback and not wanted.remote_ok:
            raise _not_allowed(f"embeddings.base_url leads to {address.host}", name)
        return name
    if wanted.model:
        return _provider_of_model(wanted.model.strip(), wanted)
    for what in ("api_key", "headers"):
        if getattr(wanted, what):
            raise _unclear(f"embeddings.{what} is set, but not which provider it is for")
    return ""


def _provider_of_model(model: str, wanted: Embeddings) -> str:
    families = {**_FAMILIES, "builtin": re.escape(BUILTIN_MODEL)}
    name = next((name for name, names in families.items() if re.fullmatch(names, model.lower())), "")
    if not name:
        raise _unclear(f"embeddings.model is {model!r}, which several providers may have")
    if name in _ON_THIS_MACHINE:
        if wanted.api_key or wanted.headers:
            raise _unclear(f"embeddings.model is {model!r}, which needs neither a key nor headers")
        if name == "local" and wanted.local.model_path and not wanted.local.model_path.endswith(model):
            raise _unclear("embeddings.model and embeddings.local.model_path name two files")
    elif not wanted.remote_ok:
        raise _not_allowed(f"embeddings.model is {model!r}, a model of {name}", name)
    return name


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
