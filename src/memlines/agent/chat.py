"""Ask a chat model for a reply of a given shape, over the two protocols that services speak.

Text leaves this machine here, and only if a model is configured. Every call has a time limit; whatever goes
wrong is one of our errors, which names the service and contains neither the key nor what was said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any, Literal, get_args

from memlines.embed.remote.http import Http, Patience
from memlines.errors import EmbeddingError, ProviderUnreachable, SettingsError, TextsRefused
from memlines.records import dataclass
from memlines.settings.tree import Chat
from memlines.text.neutral import Neutral, Quote, block
from memlines.text.terms import telling_words, words_of

Provider = Literal["openai", "anthropic"]
"""The protocols: OpenAI's chat completions, which most other services and local servers speak as well, and
Anthropic's messages."""

PATIENCE = Patience(total=45, connect=5, retries=1)
"""A user waits for the compaction of a conversation meanwhile."""

_ADDRESSES: dict[Provider, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
}
_NAMES: dict[Provider, str] = {"openai": "the chat model", "anthropic": "Anthropic"}
_KEY_HEADERS: dict[Provider, tuple[str, str]] = {
    "openai": ("authorization", "Bearer {}"),
    "anthropic": ("x-api-key", "{}"),
}
_ANTHROPIC_VERSION = "2023-06-01"
_MAX_TOKENS = 2_000
_MAX_REPLY = 200_000
_TOOL = "reply"
_OWN_WORDS = re.compile(r"(\(status \d+\)): .*", re.DOTALL)
"""What a service writes behind its status; it may repeat what was sent to it."""
_SAID_SHARE = 2 / 3
"""How many of the telling words of a text must have been said."""


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A model that answers with JSON: its protocol, its name, where it is and the key to it."""

    provider: Provider
    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    patience: Patience = PATIENCE

    def __post_init__(self) -> None:
        if self.provider not in get_args(Provider) or not self.model.strip():
            raise SettingsError(
                f"there is no chat model {self.model!r} of {self.provider!r}",
                todo=f"Name a model, and one of {', '.join(get_args(Provider))} as its provider",
            )

    def ask(self, instructions: str, text: Neutral, schema: Mapping[str, Any]) -> Any:
        """Return the JSON that the model replies; the caller must check it against the schema."""
        address = (self.base_url or _ADDRESSES[self.provider]).rstrip("/")
        headers: dict[str, str] = {}
        if self.provider == "anthropic":
            if not address.endswith("/v1"):
                address += "/v1"  # the address that Anthropic's own programs use has no version
            headers["anthropic-version"] = _ANTHROPIC_VERSION
        if self.api_key:
            name, value = _KEY_HEADERS[self.provider]
            headers[name] = value.format(self.api_key)
        http = Http(address, headers, name=_NAMES[self.provider])
        try:
            if self.provider == "anthropic":
                return self._ask_anthropic(http, instructions, text, schema)
            return self._ask_openai(http, instructions, text, schema)
        except EmbeddingError as error:
            what = _OWN_WORDS.sub(r"\1", error.what)
            raise type(error)(what, todo="Check the settings of the chat model") from None
        finally:
            http.close()

    def ask_list(
        self,
        instructions: str,
        introduction: str,
        quotes: Sequence[Quote],
        name: str,
        fields: Mapping[str, Any],
    ) -> list[Mapping[str, Any]]:
        """Ask about quoted text, and return the objects of the reply; one of another shape is an error."""
        schema = _object_schema({name: {"type": "array", "items": _object_schema(fields)}})
        reply = self.ask(instructions, block(introduction, quotes), schema)
        found = reply.get(name) if isinstance(reply, dict) and set(reply) == {name} else None
        if not isinstance(found, list):
            raise wrong_shape(f"it holds no {name}")
        if not all(isinstance(one, dict) and set(one) == set(fields) for one in found):
            raise wrong_shape(f"one of its {name} has other fields")
        return found

    def _ask_openai(self, http: Http, instructions: str, text: str, schema: Mapping[str, Any]) -> Any:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": instructions},
                {"role": "user", "content": text},
            ],
        }
        shape = {"type": "json_schema", "json_schema": {"name": _TOOL, "strict": True, "schema": schema}}
        post = partial(http.json, "POST", "chat/completions", patience=self.patience, max_reply=_MAX_REPLY)
        try:
            reply = post(body={**body, "response_format": shape})
        except TextsRefused:  # some servers know no shapes; the instructions describe it as well
            reply = post(body=body)
        match reply:
            case {"choices": [{"finish_reason": "length"}, *_]}:
                raise _unusable(http.who, "broke off its reply")
            case {"choices": [{"message": {"content": str(content)}}, *_]}:
                words = content.strip()
                if words.startswith("```"):  # models put JSON into a block of code, whatever the prompt says
                    words = words.partition("\n")[2].rpartition("```")[0]
                try:
                    return json.loads(words)
                except (ValueError, RecursionError):
                    raise _unusable(http.who, "replied with words instead of JSON") from None
        raise _unusable(http.who, "did not reply as a chat model does")

    def _ask_anthropic(self, http: Http, instructions: str, text: str, schema: Mapping[str, Any]) -> Any:
        body = {
            "model": self.model,
            "max_tokens": _MAX_TOKENS,
            "system": instructions,
            "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}],
            "tools": [{"name": _TOOL, "description": "Gives the reply.", "input_schema": schema}],
            "tool_choice": {"type": "tool", "name": _TOOL},
        }
        reply = http.json("POST", "messages", body=body, patience=self.patience, max_reply=_MAX_REPLY)
        if not isinstance(reply, dict) or not isinstance(reply.get("content"), list):
            raise _unusable(http.who, "did not reply as a chat model does")
        if reply.get("stop_reason") == "max_tokens":
            raise _unusable(http.who, "broke off its reply")
        for part in reply["content"]:
            if isinstance(part, dict) and (part.get("type"), part.get("name")) == ("tool_use", _TOOL):
                return part.get("input")
        raise _unusable(http.who, "did not give the reply that was asked for")


def chat_model(settings: Chat) -> ChatModel | None:
    """Return the chat model that the settings name; nothing if they name none."""
    if settings.provider == "none":
        return None
    return ChatModel(settings.provider, settings.model or "", settings.base_url, settings.api_key)


def _object_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(fields),
        "properties": dict(fields),
    }


def words_in(quotes: Iterable[Quote]) -> frozenset[str]:
    """Return the words that were said, in small letters."""
    return frozenset(words_of("\n".join(quote.text for quote in quotes).casefold()))


def was_said(text: str, known: Collection[str]) -> bool:
    """Return whether a text is made of known words, which are in small letters, and of no other numbers."""
    words = telling_words(text)
    missing = [word for word in words if word.casefold() not in known]
    if any(character.isdigit() for word in missing for character in word):
        return False
    return len(missing) <= len(words) * (1 - _SAID_SHARE)


def wrong_shape(why: str) -> ProviderUnreachable:
    """Return the error for a reply that has another shape than its schema."""
    return _unusable("the chat model", f"replied in another shape than it was asked for: {why}")


def _unusable(who: str, what: str) -> ProviderUnreachable:
    return ProviderUnreachable(f"{who} {what}", todo="Try again, or use another model")
