"""What counts as said in the transcripts of each host."""

from __future__ import annotations

from typing import Any

import pytest

from memlines.transcripts import claude_code, codex, openclaw, opencode
from memlines.transcripts.lines import without_blocks
from memlines.types import Transcript
from tests.transcripts.recorded import exported, shown
from tests.transcripts.records import assistant, jsonl

# Claude Code.


def claude(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "message": {"role": kind, "content": content}, "sessionId": "s", **fields}


def claude_said(*records: Any) -> list[str]:
    return shown(claude_code.CLIENT.parse(jsonl(*records)).turns)


@pytest.mark.parametrize(
    "mark", ["isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage"]
)
def test_marked_messages_of_claude_code_are_left_out(mark: str) -> None:
    assert claude_said(claude("user", "x", **{mark: True})) == []


@pytest.mark.parametrize(
    "text",
    [
        "<system-reminder>\nUse the tools.\n</system-reminder>",
        "<local-command-stdout>done</local-command-stdout>",
        "<bash-input>ls</bash-input>\n<bash-stdout>a b</bash-stdout><bash-stderr></bash-stderr>",
        "<task-notification>\n<task-id>1</task-id>\nunclosed",
        "<user-prompt-submit-hook>checked</user-prompt-submit-hook>",
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>",
    ],
)
def test_what_the_program_puts_in_is_left_out(text: str) -> None:
    assert claude_said(claude("user", text)) == []


def test_the_words_around_a_reminder_stay() -> None:
    text = "Before.\n<system-reminder>\nThink.\n</system-reminder>\nAfter."
    assert claude_said(claude("user", text)) == ["user: Before.\n\nAfter."]


def test_a_person_may_write_about_a_tag() -> None:
    text = "What is a <system-reminder> for?\n<system-reminder> is odd."
    assert claude_said(claude("user", text)) == [f"user: {text}"]


def test_a_command_with_words_is_said() -> None:
    name = "<command-message>ship</command-message>\n<command-name>/ship</command-name>"
    text = f"{name}\n<command-args>to Zürich</command-args>"
    assert claude_said(claude("user", text)) == ["user: /ship to Zürich"]


def test_results_of_tools_and_images_are_left_out() -> None:
    result = {"type": "tool_result", "content": [{"type": "text", "text": "secret"}]}
    image = {"type": "image", "source": {"data": "AAAA"}}
    assert claude_said(claude("user", [result, image, {"type": "text", "text": "see"}])) == ["user: see"]


def test_thinking_is_left_out() -> None:
    assert claude_said(claude("assistant", [{"type": "thinking", "thinking": "hm", "text": "hm"}])) == []


def test_messages_that_the_program_made_up_are_left_out() -> None:
    record = claude("assistant", [{"type": "text", "text": "No response requested."}])
    record["message"]["model"] = "<synthetic>"
    assert claude_said(record) == []


@pytest.mark.parametrize("mode", ["task-notification", "bash"])
def test_only_queued_words_count_as_typed(mode: str) -> None:
    attachment = {"type": "queued_command", "prompt": "x", "commandMode": mode}
    assert claude_said({"type": "attachment", "attachment": attachment}) == []


def test_requests_kept_for_debugging_are_left_out() -> None:
    record = {"type": "api-request-blob", "message": {"role": "user", "content": "again"}}
    assert claude_said(record) == []


# Tools.


def test_tools_are_named_once_by_the_turn_before_them() -> None:
    calls = [claude("assistant", [{"type": "tool_use", "name": name}]) for name in ("Bash", "Edit", "Bash")]
    records = [claude("user", "go"), claude("assistant", "I try."), *calls, claude("assistant", "Done.")]
    assert claude_said(*records) == ["user: go", "assistant [Bash] [Edit]: I try.", "assistant: Done."]


def test_tools_called_without_a_word_are_named_by_the_next_turn() -> None:
    call = claude("assistant", [{"type": "tool_use", "name": "Bash"}])
    assert claude_said(claude("user", "go"), call, claude("assistant", "Done.")) == [
        "user: go",
        "assistant [Bash]: Done.",
    ]


def test_tools_stay_in_their_exchange() -> None:
    call = claude("assistant", [{"type": "tool_use", "name": "Bash"}])
    records = [claude("user", "go"), call, claude("user", "stop"), claude("assistant", "I stopped.")]
    assert claude_said(*records) == ["user: go", "user: stop", "assistant: I stopped."]


def test_a_line_that_calls_tools_is_not_skipped() -> None:
    call = claude("assistant", [{"type": "tool_use", "name": "Bash"}])
    assert claude_code.CLIENT.parse(jsonl(claude("user", "go"), call)).skipped == 0


def test_tools_of_openclaw_are_named() -> None:
    blocks = [{"type": "text", "text": "I look."}, {"type": "toolCall", "name": "exec", "arguments": {}}]
    assert shown(openclaw.CLIENT.parse(jsonl(assistant(blocks))).turns) == ["assistant [exec]: I look."]


@pytest.mark.parametrize("name", [None, 7, "", " ", ["x"], {"a": 1}])
def test_a_tool_without_a_name_is_left_out(name: Any) -> None:
    blocks = [{"type": "text", "text": "hm"}, {"type": "toolCall", "name": name}]
    assert shown(openclaw.CLIENT.parse(jsonl(assistant(blocks))).turns) == ["assistant: hm"]


# Codex.


def item(**payload: Any) -> dict[str, Any]:
    return {"type": "response_item", "payload": payload}


def codex_message(role: str, *texts: str, **fields: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item(type="message", role=role, content=[{"type": kind, "text": text} for text in texts], **fields)


def codex_said(*records: Any) -> list[str]:
    return shown(codex.CLIENT.parse(jsonl(*records)).turns)


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>",
        "<user_instructions>\nBe brief.\n</user_instructions>",
        "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
        "<turn_aborted>\nstopped\n</turn_aborted>",
    ],
)
def test_what_codex_sends_in_the_name_of_the_user_is_left_out(text: str) -> None:
    assert codex_said(codex_message("user", text), codex_message("user", "Hi")) == ["user: Hi"]


def test_codex_tells_what_a_person_typed_by_its_kind() -> None:
    kinds = {"content_item_kinds": ["hooks.output", "user.text"]}
    record = codex_message("user", "checked", "Hi", internal_chat_message_metadata_passthrough=kinds)
    assert codex_said(record) == ["user: Hi"]


@pytest.mark.parametrize("role", ["developer", "system", "tool", None])
def test_other_roles_of_codex_are_left_out(role: Any) -> None:
    assert codex_said(codex_message(role, "x")) == []


def test_what_codex_says_about_its_events_is_left_out() -> None:
    event = {"type": "event_msg", "payload": {"type": "agent_message", "message": "twice"}}
    assert codex_said(event, codex_message("assistant", "once")) == ["assistant: once"]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ({"type": "function_call", "name": "exec_command"}, "exec_command"),
        ({"type": "custom_tool_call", "name": "apply_patch"}, "apply_patch"),
        ({"type": "local_shell_call"}, "shell"),
        ({"type": "web_search_call"}, "web_search"),
    ],
)
def test_the_tools_of_codex(call: dict[str, str], name: str) -> None:
    assert codex_said(item(**call), codex_message("assistant", "Done.")) == [f"assistant [{name}]: Done."]


# OpenCode.


def opencode_said(role: str, *parts: dict[str, Any], **info: Any) -> list[str]:
    return shown(opencode.CLIENT.parse(jsonl({"info": {"role": role, **info}, "parts": list(parts)})).turns)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text", "text": "x", "synthetic": True},
        {"type": "text", "text": "x", "ignored": True},
        {"type": "reasoning", "text": "x"},
        {"type": "tool", "tool": "bash", "state": {"output": "x"}, "text": "x"},
        {"type": "step-finish", "reason": "stop"},
    ],
)
def test_parts_of_opencode_that_nobody_said(part: dict[str, Any]) -> None:
    assert opencode_said("user", part) == []


def test_a_summary_of_opencode_is_left_out() -> None:
    assert opencode_said("assistant", {"type": "text", "text": "x"}, summary=True) == []


def test_the_figures_on_changed_files_are_no_summary() -> None:
    assert opencode_said("user", {"type": "text", "text": "x"}, summary={"diffs": []}) == ["user: x"]


MESSAGE = '{"info": {"role": "user"}, "parts": [{"type": "text", "text": "%s"}]}'


def test_an_export_on_one_line() -> None:
    text = f'{{"info": {{"directory": "/x"}}, "messages": [{MESSAGE % "a"}, {MESSAGE % "b"}]}}'
    transcript = exported(text)
    assert [(turn.text, turn.line) for turn in transcript.turns] == [("a", 1), ("b", 1)]


def test_a_damaged_message_of_an_export_takes_no_other_with_it() -> None:
    text = '{"info": {}, "messages": [\n' + ",\n".join([MESSAGE % "a", MESSAGE[:-9], MESSAGE % "c"]) + "\n]}"
    transcript = exported(text)
    assert ([turn.text for turn in transcript.turns], transcript.broken) == (["a", "c"], 1)


def test_an_export_that_is_cut_off() -> None:
    text = '{"info": {"directory": "/x"}, "messages": [\n' + MESSAGE % "a" + ",\n" + MESSAGE[:20]
    assert exported(text) == Transcript(exported(text).turns, None, 1, 1)


# Blocks between tags.

TAGS = frozenset({"note", "hook"})


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("", ""),
        ("plain", "plain"),
        ("<note>a</note>b", "b"),
        ("a <note>b</note>", "a <note>b</note>"),
        ("a\n<note>b\n</note>\nc", "a\n\nc"),
        ("<note>a<hook>b</hook>c</note>d", "d"),
        ("<hook>a</hook><note>b</note> <note>c</note>d", "d"),
        ("<note>a", ""),
        ("<hook>a</hook>\n<note>b", ""),
        ("a\n<note>b", "a\n<note>b"),
        ("<other>a</other>", "<other>a</other>"),
    ],
)
def test_blocks_between_tags(text: str, left: str) -> None:
    assert without_blocks(text, TAGS) == left


def test_many_tags_that_are_never_closed() -> None:
    text = "a\n" + "<note>\n<hook>\n" * 100_000
    assert without_blocks(text, TAGS) == text.strip()
