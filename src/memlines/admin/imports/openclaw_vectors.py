"""Take over what OpenClaw embedded, so that its notes need not be embedded again.

Both programs may cut and embed a text alike. OpenClaw ends the last text of a file with the line break, which
Memlines leaves out, and Memlines puts the headings above a text before it. So a vector is taken only if its
text is the same but for that line break, and the provider in the settings, asked for a few of them, makes the
same vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import field, replace
from itertools import islice

from memlines.embed.base import Provider, embed_documents, validated
from memlines.embed.codec import encode
from memlines.embed.select import choose
from memlines.errors import BadVectors, SettingsError
from memlines.files.place import ensure_index_folder
from memlines.files.tombstones import Forgotten
from memlines.index.store.sqlite import cache
from memlines.index.store.sqlite.db import system_errors, transaction
from memlines.index.store.sqlite.foreign import Kept, hashes, kept, vectors
from memlines.index.store.sqlite.index import Index
from memlines.index.sync.discovery import find_files
from memlines.index.sync.job import Job, identity_of, space_of
from memlines.index.sync.words import cut_document, read_file
from memlines.paths import Workspace
from memlines.records import dataclass
from memlines.settings import Settings
from memlines.text.chunk import text_hash
from memlines.types import Cut, Document, Progress

_SAME_PROVIDER = {"lmstudio": "openai-compatible"}
_ENDINGS = ("", "\n")
_SAMPLES = 3
_SAME = 0.999
"""The cosine from which two vectors are of one text and one model: other models, other texts and other
settings of a model are further apart."""

_WRITE_AT_ONCE = 500
_WAIT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Vectors:
    """What became of vectors.

    `there` counts those that OpenClaw has of the model in the settings, `texts` those that this workspace
    needs, `matching` those that could be taken over, `known` those of them that are here already, `taken`
    those that were taken, and `reason` says why not all were.
    """

    database: str
    provider: str = ""
    model: str = ""
    there: int = 0
    texts: int = 0
    matching: int = 0
    known: int = 0
    taken: int = 0
    reason: str = ""


@dataclass(slots=True)
class _Matches:
    """Texts of ours that are texts of theirs: our hashes by their hashes, and a few of the texts."""

    ours: dict[str, str] = field(default_factory=dict)
    samples: dict[str, str] = field(default_factory=dict)

    def add(self, theirs: str, ours: str, text: str) -> None:
        self.ours.setdefault(theirs, ours)
        if len(self.samples) < _SAMPLES:
            self.samples.setdefault(theirs, text)


def take_vectors(
    workspace: Workspace, settings: Settings, database: str, *, dry_run: bool, progress: Progress
) -> Vectors:
    """Put the vectors of a database of OpenClaw into our cache, those that the provider would make too."""
    provider = choose(settings).provider
    if provider is None:
        return Vectors(database, reason="the settings search by words only, which needs no vectors")
    if not settings.cache.enabled:
        raise SettingsError("cache.enabled is false, so vectors cannot be kept", todo="Set it to true")
    every = kept(database)
    usable = [one for one in every if _is_of(one, provider)]
    result = Vectors(database, provider.id, provider.model, sum(one.count for one in usable))
    if not usable:
        held = ", ".join(dict.fromkeys(f"{one.provider} ({one.model})" for one in every)) or "no model"
        return replace(
            result, reason=f"it holds vectors of {held}, and the settings ask for {space_of(provider)}"
        )
    index_file = workspace.index_file(settings.store.path, settings.agent)
    work = _VectorImport(Job(workspace, settings, provider, index_file, progress), provider, database)
    found = work.find_matches(usable)
    matching = sum(len(one.ours) for one in found.values())
    known = work.find_known({ours for one in found.values() for ours in one.ours.values()})
    result = replace(result, texts=work.texts, matching=matching, known=len(known))
    if not matching:
        return replace(result, reason="no text of this workspace is cut and embedded alike there")
    if dry_run or matching == len(known):
        return result
    proved = {key: one for key, one in found.items() if work.is_same(key[0], one)}
    taken = work.write(proved, known)
    left = matching - sum(len(one.ours) for one in proved.values())
    reason = f"of {left} texts {provider.id} makes other vectors than those" if left else ""
    return replace(result, taken=taken, reason=reason)


class _VectorImport:
    """One import of vectors: find what matches, prove that it is the same, and write it."""

    def __init__(self, job: Job, provider: Provider, database: str) -> None:
        self.job = job
        self.provider = provider
        self.database = database
        self.texts = 0

    def find_matches(self, usable: list[Kept]) -> dict[tuple[Kept, str], _Matches]:
        """Return the texts that are the same, by who has the vectors and by what ends the text there."""
        where: dict[str, Kept] = {}
        for one in usable:
            for digest in hashes(self.database, one):
                where.setdefault(digest, one)
        found: dict[tuple[Kept, str], _Matches] = {}
        for text in self._our_texts():
            for ending in _ENDINGS:
                theirs = text_hash(text + ending)
                if theirs in where:
                    found.setdefault((where[theirs], ending), _Matches()).add(theirs, text_hash(text), text)
                    break
        return found

    def _our_texts(self) -> Iterator[str]:
        """Yield the texts of this workspace that are embedded in one piece."""
        job = self.job
        forgotten = Forgotten.load(job.workspace)
        files = find_files(job.workspace, job.settings).files
        for done, file in enumerate(files, 1):
            job.progress(done, len(files), "comparing")
            document = read_file(file, job.settings.files.max_bytes)
            if not isinstance(document, Document):
                continue
            cut = cut_document(document, file, job.settings, forgotten)
            for chunk in cut.chunks if isinstance(cut, Cut) else ():
                text = chunk.embedded_text
                self.texts += 1
                if len(text.encode()) <= self.provider.limits.text_bytes:
                    yield text

    def find_known(self, hashes: set[str]) -> set[str]:
        """Return the hashes of texts whose vectors are in our cache already."""
        index = Index.reader(self.job.index_file)
        if index is None:
            return set()
        space = space_of(self.provider)
        with closing(index), index.errors():
            dims = cache.dims_of(index.connection, space)
            return set(cache.cached(index.connection, space, list(hashes), dims)) if dims else set()

    def is_same(self, which: Kept, matches: _Matches) -> bool:
        """Return whether the provider makes the vectors that OpenClaw has of a few of the texts."""
        theirs = dict(vectors(self.database, which, matches.samples))
        if not theirs:
            return False
        ours = embed_documents(self.provider, [matches.samples[digest] for digest in theirs])
        try:
            others = validated(list(theirs.values()), len(theirs), ours.shape[1])
        except BadVectors:
            return False
        return bool(((ours * others).sum(axis=1) >= _SAME).all())

    def write(self, proved: Mapping[tuple[Kept, str], _Matches], known: set[str]) -> int:
        """Put vectors into our cache; return how many."""
        job, taken = self.job, 0
        if not proved:
            return 0
        ensure_index_folder(job.workspace, job.index_file)
        with (
            system_errors(job.index_file),
            job.lock().held(_WAIT_SECONDS),
            Index.writer(job.index_file, identity_of(job.settings)) as index,
        ):
            for (which, _), matches in proved.items():
                wanted = [theirs for theirs, ours in matches.ours.items() if ours not in known]
                rest = iter(vectors(self.database, which, wanted))
                while some := list(islice(rest, _WRITE_AT_ONCE)):
                    taken += self._keep(index, {matches.ours[theirs]: one for theirs, one in some})
                    job.progress(taken, len(wanted), "taking")
        return taken

    def _keep(self, index: Index, vectors: Mapping[str, list[float]]) -> int:
        dims = self.provider.dims or 0
        blobs: dict[str, bytes] = {}
        for digest, numbers in vectors.items():
            with suppress(BadVectors):  # the next sync makes one that is damaged again
                blobs[digest] = encode(validated([numbers], 1, dims))[0]
        with transaction(index.connection):
            cache.remember(index.connection, space_of(self.provider), blobs, dims)
        return len(blobs)


def _is_of(one: Kept, provider: Provider) -> bool:
    """Return whether vectors may be those of a provider, by the names of both and their models."""
    same_model = one.model == provider.model or one.model.endswith(f"/{provider.model}")
    return _SAME_PROVIDER.get(one.provider, one.provider) == provider.id and same_model
