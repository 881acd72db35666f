// The end of a turn, files, compactions and the command /memory.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { FakeClient, load, pause, SOURCE, startSession, stored, systemPrompt, tell, until } from "./support.mjs"

async function withMessages(messages, more = {}) {
  const client = new FakeClient()
  const plugin = await load({ client, ...more })
  client.messages[plugin.id] = messages
  await startSession(plugin)
  return plugin
}
const TALK = [stored("msg_1", "user", "use Postgres"), stored("msg_2", "assistant", "done")]
const SAID = [
  { info: { id: "msg_1", role: "user", time: { created: 1 } }, parts: [{ type: "text", text: "use Postgres" }] },
  { info: { id: "msg_2", role: "assistant", time: { created: 1 } }, parts: [{ type: "text", text: "done" }] },
]

test("at the end of a turn the engine gets what was said", async () => {
  const { hooks, script, id, directory } = await withMessages(TALK)
  await tell(hooks, "session.idle", { sessionID: id })
  const params = await until(() => script.params("session/idle")[0])
  assert.deepEqual(params, { session: id, messages: SAID, client: "opencode", directory })
})

test("the end of a turn that is told twice counts once", async () => {
  const { hooks, script, id } = await withMessages(TALK)
  await Promise.all([tell(hooks, "session.idle", { sessionID: id }), tell(hooks, "session.idle", { sessionID: id })])
  await until(() => script.seen("session/idle").length)
  await tell(hooks, "session.idle", { sessionID: id })
  await pause(100)
  assert.equal(script.seen("session/idle").length, 1)
})

test("the next turn counts again", async () => {
  const { hooks, script, id, client } = await withMessages(TALK)
  await tell(hooks, "session.idle", { sessionID: id })
  await until(() => script.seen("session/idle").length)
  client.messages[id] = [...TALK, stored("msg_3", "user", "and Redis")]
  await tell(hooks, "session.idle", { sessionID: id })
  await until(() => script.seen("session/idle").length === 2)
})

test("a snapshot that failed is tried again", async () => {
  const answers = { "session/idle": { error: { code: -32000, message: "disk full" } } }
  const { hooks, script, id } = await withMessages(TALK, { answers })
  await tell(hooks, "session.idle", { sessionID: id })
  await until(() => script.seen("session/idle").length)
  await pause(50)
  await tell(hooks, "session.idle", { sessionID: id })
  await until(() => script.seen("session/idle").length === 2)
})

test("only the last messages are sent", async () => {
  const many = Array.from({ length: 100 }, (_, n) => stored(`msg_${n}`, "user", `line ${n}`))
  const { hooks, script, id } = await withMessages(many)
  await tell(hooks, "session.idle", { sessionID: id })
  const { messages } = await until(() => script.params("session/idle")[0])
  assert.equal(messages.length, 40)
  assert.equal(messages.at(-1).parts[0].text, "line 99")
})

test("the summary of a compaction is not what was said", async () => {
  const summary = stored("msg_3", "assistant", "a summary", { summary: true })
  const { hooks, script, id } = await withMessages([...TALK, summary])
  await tell(hooks, "session.idle", { sessionID: id })
  assert.deepEqual((await until(() => script.params("session/idle")[0])).messages, SAID)
})

for (const name of ["memory", "remember", "recall", "forget"]) {
  test(`/${name} is told as it was typed`, async () => {
    const file = readFileSync(join(SOURCE, "commands", `${name}.md`), "utf8")
    const template = file.replace(/^---[^]*?\n---\n/, "").trim()
    const text = template.replace("$ARGUMENTS", "the words: two")
    const { hooks, script, id } = await withMessages([stored("msg_1", "user", text)])
    await tell(hooks, "session.idle", { sessionID: id })
    const { messages } = await until(() => script.params("session/idle")[0])
    assert.equal(messages[0].parts[0].text, `/${name} the words: two`)
  })
}

test("the turns of subagents are left alone", async () => {
  const { hooks, script, client } = await withMessages(TALK)
  client.messages.ses_child = TALK
  await tell(hooks, "session.created", { info: { id: "ses_child", parentID: "ses_1" } })
  await tell(hooks, "session.idle", { sessionID: "ses_child" })
  await pause(100)
  assert.equal(script.seen("session/idle").length, 0)
})

test("with snapshots off the end of a turn is not told", async () => {
  const { hooks, script, id } = await withMessages(TALK, { options: { snapshots: false } })
  await tell(hooks, "session.idle", { sessionID: id })
  await pause(100)
  assert.equal(script.seen("session/idle").length, 0)
})

test("messages that cannot be read are a line in the log", async () => {
  const { hooks, id, client } = await withMessages(undefined)
  await tell(hooks, "session.idle", { sessionID: id })
  await until(() => client.logged.some((line) => line.message.includes("messages cannot be read")))
})

test("the end of the client waits for the snapshot", async () => {
  const answers = { "session/idle": { delay: 300 } }
  const { hooks, script, id } = await withMessages(TALK, { answers })
  await tell(hooks, "session.idle", { sessionID: id })
  await hooks.dispose()
  assert.equal(script.seen("session/idle").length, 1)
  await until(() => script.entries.some((entry) => entry.end))
})

test("the end of the client does not wait for an engine that hangs", async () => {
  const { hooks, id } = await withMessages(TALK, { answers: { "session/idle": { silent: true } } })
  await tell(hooks, "session.idle", { sessionID: id })
  await hooks.dispose()
  assert.equal((await hooks.tool.memory_recall.execute({}, {})).output, "memory unavailable: the plugin was closed")
})

test("edited notes are told once, a moment later", async () => {
  const { hooks, script } = await load()
  for (let n = 0; n < 3; n++) {
    await tell(hooks, "file.edited", { file: "/p/memory/a.md" })
    await tell(hooks, "file.watcher.updated", { file: "/p/memory/a.md", event: "change" })
  }
  await tell(hooks, "file.edited", { file: "/p/src/index.ts" })
  await until(() => script.seen("file/changed").length)
  await pause(400)
  assert.deepEqual(script.params("file/changed"), [{ path: "/p/memory/a.md" }])
})

test("a relative path is one of the directory", async () => {
  const { hooks, script, directory } = await load()
  await tell(hooks, "file.edited", { file: "MEMORY.md" })
  assert.deepEqual(await until(() => script.params("file/changed")[0]), { path: `${directory}/MEMORY.md` })
})

test("with files off edits are not told", async () => {
  const { hooks, script } = await load({ options: { files: false } })
  await tell(hooks, "file.edited", { file: "/p/memory/a.md" })
  await pause(400)
  assert.equal(script.starts.length, 0)
})

const SURVIVES = { "session/compacting": { result: { context: "kept: Postgres", written: [], skipped: [] } } }

async function compact({ hooks, id }) {
  const context = []
  await hooks["experimental.session.compacting"]({ sessionID: id }, { context })
  return context
}

test("before a compaction what was said goes to the engine, and what must survive into the context", async () => {
  const plugin = await withMessages(TALK, { answers: SURVIVES })
  assert.deepEqual(await compact(plugin), ["kept: Postgres"])
  assert.deepEqual(plugin.script.params("session/compacting"), [{ session: plugin.id, messages: SAID }])
})

test("a flush that fails leaves the compaction as it is", async () => {
  const answers = { "session/compacting": { error: { code: -32000, message: "disk full" } } }
  assert.deepEqual(await compact(await withMessages(TALK, { answers })), [])
})

test("with flush off a compaction is left alone", async () => {
  const plugin = await withMessages(TALK, { answers: SURVIVES, options: { flush: false } })
  assert.deepEqual(await compact(plugin), [])
  assert.equal(plugin.script.seen("session/compacting").length, 0)
})

async function memory({ hooks, id }, words, command = "memory") {
  const parts = [{ type: "text", text: "the template" }]
  await hooks["command.execute.before"]({ command, sessionID: id, arguments: words }, { parts })
  return parts
}

test("/memory is carried out, and the model is told what came of it", async () => {
  const plugin = await withMessages(TALK, { answers: { "command/run": { result: { text: "12 notes" } } } })
  const parts = await memory(plugin, "status")
  const text = "<memlines-result>\n12 notes\n</memlines-result>"
  assert.deepEqual(parts[1], { type: "text", text, synthetic: true })
  assert.deepEqual(plugin.script.params("command/run"), [{ arguments: "status", session: plugin.id }])
})

test("only /memory compact sends what was said", async () => {
  const plugin = await withMessages(TALK)
  await memory(plugin, " compact ")
  assert.deepEqual(plugin.script.params("command/run")[0].messages, SAID)
})

test("/memory that fails says so to the model", async () => {
  const error = { code: -32000, message: "/memory does not know 'x'" }
  const plugin = await withMessages(TALK, { answers: { "command/run": { error } } })
  const [, { text }] = await memory(plugin, "x")
  assert.equal(text, "<memlines-result>\nmemory unavailable: /memory does not know 'x'\n</memlines-result>")
})

test("a result cannot end its own quotation", async () => {
  const answers = { "command/run": { result: { text: "a</memlines-result>b" } } }
  const [, { text }] = await memory(await withMessages(TALK, { answers }), "status")
  assert.equal(text.split("</memlines-result>").length, 2)
})

test("other commands are left as they are", async () => {
  const plugin = await withMessages(TALK)
  assert.equal((await memory(plugin, "x", "remember")).length, 1)
  assert.equal(plugin.script.seen("command/run").length, 0)
})

test("after /memory off nothing that was fetched before is told", async () => {
  const answers = { "session/start": { result: { context: "notes" } }, "command/run": { result: { text: "off" } } }
  const plugin = await withMessages(TALK, { answers })
  assert.equal((await systemPrompt(plugin)).length, 2)
  await memory(plugin, "off")
  await until(() => plugin.script.seen("session/start").length === 2)
})
