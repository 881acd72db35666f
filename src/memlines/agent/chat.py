"""Ask a chat model for a reply of a given shape, over the two protocols that services speak.

Text leaves this machine here, and only if a model is configured. Every call ends in time; whatever goes
wrong is one of our errors, which names the service and holds neither the key nor what was said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from memlines.embed.remote.http import Http, Patience
from memlines.errors import EmbeddingError, ProviderUnreachable, SettingsError, TextsRefused
from memlines.settings.tree import Chat
from memlines.text.neutral import Neutral
from memlines.text.terms import telling_words

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
_ANTHROPIC_VERSION = "2023-06-01"
_MAX_TOKENS = 2_000
_MAX_REPLY = 200_000
_TOOL = "reply"
_OWN_WORDS = re.compile(r"(\(status \d+\)): .*", re.DOTALL)
"""What a service says itself behind its status; it may repeat what was said to it."""
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
        http = Http(self._address(), self._headers(), name=_NAMES[self.provider])
        try:
            if self.provider == "anthropic":
                return self._ask_anthropic(http, instructions, text, schema)
            return self._ask_openai(http, instructions, text, schema)
        except EmbeddingError as error:
            what = _OWN_WORDS.sub(r"\1", error.what)
            raise type(error)(what, todo="Check the settings of the chat model") from None
        finally:
            http.close()

    def _address(self) -> str:
        address = (self.base_url or _ADDRESSES[self.provider]).rstrip("/")
        if self.provider == "anthropic" and not address.endswith("/v1"):
            address += "/v1"  # the address that Anthropic's own programs take has no version
        return address

    def _headers(self) -> dict[str, str]:
        if self.provider == "anthropic":
            key = {"x-api-key": self.api_key} if self.api_key else {}
            return {"anthropic-version": _ANTHROPIC_VERSION, **key}
        return {"authorization": f"Bearer {self.api_key}"} if self.api_key else {}

    def _ask_openai(self, http: Http, instructions: str, text: str, schema: Mapping[str, Any]) -> Any:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": instructions},
                {"role": "user", "content": text},
            ],
        }
        shape = {"type": "json_schema", "json_schema": {"name": _TOOL, "strict": True, "schema": schema}}
        try:
            reply = self._post(http, "chat/completions", {**body, "response_format": shape})
        except TextsRefused:  # some servers know no shapes; the instructions describe it as well
            reply = self._post(http, "chat/completions", body)
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
        reply = self._post(http, "messages", body)
        if not isinstance(reply, dict) or not isinstance(reply.get("content"), list):
            raise _unusable(http.who, "did not reply as a chat model does")
        if reply.get("stop_reason") == "max_tokens":
            raise _unusable(http.who, "broke off its reply")
        for block in reply["content"]:
            if isinstance(block, dict) and (block.get("type"), block.get("name")) == ("tool_use", _TOOL):
                return block.get("input")
        raise _unusable(http.who, "did not give the reply that was asked for")

    def _post(self, http: Http, path: str, body: dict[str, Any]) -> Any:
        return http.json("POST", path, body=body, patience=self.patience, max_reply=_MAX_REPLY)


def chat_model(settings: Chat) -> ChatModel | None:
    """Return the chat model that the settings name; nothing if they name none."""
    if settings.provider == "none":
        return None
    return ChatModel(settings.provider, settings.model or "", settings.base_url, settings.api_key)


def list_schema(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a reply that is a list of objects with these fields and no others."""
    item = _object_schema(fields)
    return _object_schema({name: {"type": "array", "items": item}})


def _object_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(fields),
        "properties": dict(fields),
    }


def parse_list(reply: Any, schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the objects of a reply to a `list_schema`, or refuse all of it if any has other fields."""
    (name,) = schema["required"]
    fields = set(schema["properties"][name]["items"]["required"])
    found = reply.get(name) if isinstance(reply, dict) and set(reply) == {name} else None
    if not isinstance(found, list):
        raise wrong_shape(f"it holds no {name}")
    if not all(isinstance(one, dict) and set(one) == fields for one in found):
        raise wrong_shape(f"one of its {name} has other fields")
    return found


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
