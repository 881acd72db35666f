"""The rules that say in which conversations qmd answers."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from memlines.errors import SettingsError
from memlines.settings.qmd import QmdScope

DIRECT = {"chat_type": "direct"}
GROUP = {"chat_type": "group", "channel": "discord", "key": "agent:main:discord:group:7"}


@pytest.mark.parametrize(("chat", "allowed"), [(DIRECT, True), (GROUP, False), ({}, False)])
def test_direct_chats_alone_are_allowed_unless_you_say_otherwise(
    chat: Mapping[str, str], allowed: bool
) -> None:
    assert QmdScope().allows(chat) is allowed


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        (["deny channel=slack", "allow channel=discord"], True),
        (["deny channel=discord", "allow channel=discord"], False),
        (["allow key_prefix=discord:group:"], True),
        (["allow key_prefix=agent:"], False),
        (["allow raw_key_prefix=agent:main:"], True),
        (["allow channel=discord chat_type=direct"], False),
        (["Allow Channel=Discord"], True),
        (["allow"], True),
    ],
)
def test_the_first_rule_that_fits_decides(rules: list[str], allowed: bool) -> None:
    assert QmdScope("deny", tuple(rules)).allows(GROUP) is allowed


@pytest.mark.parametrize("rule", ["", "maybe", "allow colour=red", "allow channel", "deny channel="])
def test_a_rule_that_cannot_be_read_is_refused(rule: str) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        QmdScope("allow", ("allow", rule)).allows(DIRECT)
