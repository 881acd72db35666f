// The plugin in OpenCode 2, as its published types describe it.
import assert from "node:assert/strict"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, test } from "node:test"
import { pathToFileURL } from "node:url"
import { OpenCode2 } from "./fake_v2.mjs"
import { atOnce, closing, install, pause, Script, SOURCE, temporaryFolder, until } from "./support.mjs"

const TABLE = JSON.parse(readFileSync(join(SOURCE, "memlines", "tools.json"), "utf8"))
const NOTES = "<memlines-context>notes</memlines-context>"
const CONTEXT = { "session/start": { result: { context: NOTES } } }
const KNOWN = { "session/message": { result: { context: "> it was Tuesday", about_past: true } } }
const SURVIVES = { "session/compacting": { result: { context: "kept: Postgres", written: [], skipped: [] } } }

const logged = []
console.error = (line) => logged.push(line)
afterEach(() => logged.splice(0))

/** Install the plugin into a project, and have OpenCode 2 load the file that it finds there. */
async function load({ answers, options, directory = temporaryFolder(), script = new Script(answers), lack } = {}) {
  const installed = install(script)
  writeFileSync(join(installed, "plugins", "package.json"), '{"type": "module"}')
  if (lack) rmSync(join(installed, "memlines", lack))
  const opencode = new OpenCode2(directory, options)
  await opencode.load(await import(`${pathToFileURL(join(installed, "plugins", "memlines.js"))}`))
  closing(async () => {
    await opencode.unload()
    assert.deepEqual(opencode.defects, [], "nothing may fail a session")
  })
  return { opencode, script, directory }
}

/** Begin a session, and wait until the engine has begun it. */
async function begin(plugin, more) {
  const id = plugin.opencode.begin(more)
  await until(() => plugin.script.params("session/start").some(({ session }) => session === id))
  await plugin.opencode.call("memory_recall", {}) // asked later, so answered later
  await pause(10)
  return id
}

const lastMessage = ({ messages }) => messages.at(-1).content.map(({ text }) => text)

function command(name, words) {
  const file = readFileSync(join(SOURCE, "commands", `${name}.md`), "utf8")
  return file.replace(/^---[^]*?\n---\n/, "").trim().replace("$ARGUMENTS", words)
}

// Tools

test("the model sees the tools under their own names, with their schemas", async () => {
  const { opencode } = await load()
  const shown = TABLE.filter((tool) => !tool.maintenance)
  assert.deepEqual(Object.keys(opencode.tools), shown.map(({ name }) => name))
  for (const { name, description, parameters } of shown) {
    assert.equal(opencode.tools[name].description, description)
    assert.deepEqual(opencode.tools[name].input, parameters)
  }
})

test("a call reaches the engine with its arguments and session", async () => {
  const { opencode, script } = await load({ answers: { memory_search: { result: { text: "a hit", data: { n: 1 } } } } })
  const result = await opencode.call("memory_search", { query: "deploy" }, "ses_7")
  assert.deepEqual(result, { content: "a hit", metadata: { failed: false, data: { n: 1 } } })
  assert.deepEqual(script.params("tools/call"), [
    { name: "memory_search", arguments: { query: "deploy" }, session: "ses_7" },
  ])
})

for (const [what, answer] of Object.entries({
  "dies": { die: 1 },
  "refuses": { error: { code: -32602, message: "query is missing" } },
  "answers another shape": { result: [17] },
  "answers nothing": { result: { text: "" } },
})) {
  test(`a tool answers in words when the engine ${what}`, async () => {
    const { opencode } = await load({ answers: { memory_forget: answer } })
    assert.equal(typeof (await opencode.call("memory_forget", { query: "x" })).content, "string")
  })
}

for (const given of [undefined, null, "text", [1]]) {
  test(`arguments that are ${JSON.stringify(given)} become none`, async () => {
    const { opencode, script } = await load()
    await opencode.call("memory_recall", given)
    assert.deepEqual(script.params("tools/call")[0].arguments, {})
  })
}

test("a call without a context is answered", async () => {
  const { opencode } = await load({ answers: { memory_recall: { result: { text: "found" } } } })
  assert.equal((await opencode.tools.memory_recall.execute({})).content, "found")
})

test("the user's abort ends a call", async () => {
  const { opencode, script } = await load({ answers: { memory_search: { silent: true } } })
  const abort = new AbortController()
  const call = opencode.call("memory_search", { query: "x" }, "ses_1", abort.signal)
  await until(() => script.seen("tools/call").length)
  abort.abort()
  assert.equal((await call).content, "memory unavailable: cancelled")
})

// The start of a session

test("each model call gets what the session starts with", async () => {
  const plugin = await load({ answers: CONTEXT })
  const id = await begin(plugin)
  for (let call = 0; call < 2; call++) {
    assert.deepEqual((await plugin.opencode.modelCall(id)).system, ["You are opencode", NOTES])
  }
  assert.equal(plugin.script.seen("session/start").length, 1)
})

test("a session from before the plugin was loaded is begun with its first message", async () => {
  const plugin = await load({ answers: CONTEXT })
  const id = plugin.opencode.begin({ isToldOf: false })
  await plugin.opencode.prompt(id, "hello again")
  await until(() => plugin.opencode.modelCall(id), ({ system }) => system.length === 2)
})

test("with bootstrap off a session starts with nothing", async () => {
  const plugin = await load({ answers: CONTEXT, options: { bootstrap: false } })
  const id = await begin(plugin)
  assert.deepEqual((await plugin.opencode.modelCall(id)).system, ["You are opencode"])
})

/** Let a session do everything that asks for the memory. */
async function useAll({ opencode }, id) {
  await opencode.prompt(id, "when was it?")
  const sent = await opencode.modelCall(id)
  const kept = await opencode.compact(id)
  opencode.publish("session.execution.succeeded", { sessionID: id })
  await pause(200)
  return { ...sent, kept }
}

for (const [whose, more] of Object.entries({
  "a subagent": { parentID: "ses_parent" },
  "another place": { directory: "/somewhere/else" },
})) {
  for (const isToldOf of [true, false]) {
    test(`a session of ${whose} is left alone${isToldOf ? "" : ", also one that was there before"}`, async () => {
      const plugin = await load({ answers: { ...CONTEXT, ...KNOWN, ...SURVIVES } })
      const id = plugin.opencode.begin({ ...more, isToldOf })
      const { system, messages, kept } = await useAll(plugin, id)
      assert.deepEqual([system.length, messages.length, kept], [1, 1, []])
      assert.deepEqual(messages[0].content, [{ type: "text", text: "when was it?" }])
      assert.equal(plugin.script.starts.length, 0)
    })
  }
}

test("a session that moves here is looked at again", async () => {
  const plugin = await load({ answers: CONTEXT })
  const id = plugin.opencode.begin({ directory: "/somewhere/else", isToldOf: false })
  await useAll(plugin, id)
  plugin.opencode.sessions[id].location = { directory: plugin.directory }
  plugin.opencode.publish("session.moved", { sessionID: id, location: { directory: plugin.directory } })
  await pause(10)
  await plugin.opencode.prompt(id, "hello again")
  await until(() => plugin.opencode.modelCall(id), ({ system }) => system.length === 2)
})

// Messages

test("what is known about a message goes beside it in each model call, and is not stored", async () => {
  const plugin = await load({ answers: KNOWN })
  const id = await begin(plugin)
  await plugin.opencode.prompt(id, "when did we deploy?")
  for (let call = 0; call < 2; call++) {
    const told = lastMessage(await plugin.opencode.modelCall(id))
    assert.deepEqual(told, ["when did we deploy?", "> it was Tuesday"])
  }
  assert.deepEqual(plugin.opencode.stored[id].map(({ text }) => text), ["when did we deploy?"])
  assert.deepEqual(plugin.script.params("session/message"), [{ session: id, text: "when did we deploy?" }])
})

test("what is known stays beside its message when the next one comes", async () => {
  const plugin = await load({ answers: KNOWN })
  const id = await begin(plugin)
  await plugin.opencode.prompt(id, "when did we deploy?")
  await plugin.opencode.modelCall(id)
  plugin.opencode.store(id, { id: "msg_a", type: "assistant", content: [{ type: "text", text: "On Tuesday." }] })
  await plugin.opencode.prompt(id, "and before?")
  const { messages } = await plugin.opencode.modelCall(id)
  assert.deepEqual(messages.map(({ content }) => content.length), [2, 1, 2])
})

test("a message is not held up by what is asked about it", async () => {
  const plugin = await load({ answers: { "session/message": { delay: 1000 } } })
  const id = await begin(plugin)
  await atOnce(plugin.opencode.prompt(id, "when was it?"))
})

test("the first model call waits a moment for what is known, the others do not", async () => {
  const plugin = await load({ answers: { "session/message": { delay: 1000 } } })
  const id = await begin(plugin)
  await plugin.opencode.prompt(id, "when was it?")
  assert.deepEqual(lastMessage(await plugin.opencode.modelCall(id)), ["when was it?"])
  await atOnce(plugin.opencode.modelCall(id))
})

test("what comes late goes beside the message at a later model call", async () => {
  const { result } = KNOWN["session/message"]
  const plugin = await load({ answers: { "session/message": { result, delay: 600 } } })
  const id = await begin(plugin)
  await plugin.opencode.prompt(id, "when was it?")
  await until(async () => lastMessage(await plugin.opencode.modelCall(id)), (told) => told.length === 2)
})

test("a message that is admitted again is asked about once", async () => {
  const plugin = await load({ answers: KNOWN })
  const id = await begin(plugin)
  await plugin.opencode.prompt(id, "when was it?", "msg_same")
  await plugin.opencode.prompt(id, "when was it?", "msg_same")
  await until(() => plugin.script.seen("session/message").length)
  await pause(50)
  assert.equal(plugin.script.seen("session/message").length, 1)
})

test("with recall off nothing is asked", async () => {
  const plugin = await load({ answers: KNOWN, options: { recall: false } })
  const id = await begin(plugin)
  await plugin.opencode.prompt(id, "when was it?")
  assert.deepEqual(lastMessage(await plugin.opencode.modelCall(id)), ["when was it?"])
})

test("the text of our own commands is not looked up", async () => {
  const plugin = await load({ answers: KNOWN })
  const id = await begin(plugin)
  await plugin.opencode.prompt(id, command("recall", "deploys"))
  assert.equal(lastMessage(await plugin.opencode.modelCall(id)).length, 1)
})

// The command /memory

const RESULT = { "command/run": { result: { text: "12 notes" }, delay: 100 } }

for (const [how, text] of Object.entries({ expanded: command("memory", "status"), typed: "/memory status" })) {
  test(`/memory that comes ${how} is carried out, and the model is told what came of it`, async () => {
    const plugin = await load({ answers: RESULT })
    const id = await begin(plugin)
    await plugin.opencode.prompt(id, text)
    const told = lastMessage(await plugin.opencode.modelCall(id))
    assert.deepEqual(told, [text, "<memlines-result>\n12 notes\n</memlines-result>"])
    assert.deepEqual(plugin.script.params("command/run"), [{ arguments: "status", session: id }])
  })
}

test("/memory that is admitted again is carried out once", async () => {
  const plugin = await load({ answers: RESULT })
  const id = await begin(plugin)
  await plugin.opencode.prompt(id, "/memory sync", "msg_same")
  await plugin.opencode.prompt(id, "/memory sync", "msg_same")
  await plugin.opencode.modelCall(id)
  assert.equal(plugin.script.seen("command/run").length, 1)
})

test("/memory compact sends what was said", async () => {
  const plugin = await load({ answers: RESULT })
  const id = await begin(plugin)
  plugin.opencode.store(id, { id: "msg_1", type: "user", text: "use Postgres" })
  await plugin.opencode.prompt(id, command("memory", "compact"))
  await plugin.opencode.modelCall(id)
  assert.deepEqual(plugin.script.params("command/run")[0].messages[0].parts, [{ type: "text", text: "use Postgres" }])
})

test("after /memory off nothing that was fetched before is told", async () => {
  const plugin = await load({ answers: { ...CONTEXT, ...RESULT } })
  const id = await begin(plugin)
  await plugin.opencode.prompt(id, "/memory off")
  await until(() => plugin.script.seen("session/start").length === 2)
})

test("a message that only begins like the command is none", async () => {
  const plugin = await load({ answers: RESULT })
  const id = await begin(plugin)
  await plugin.opencode.prompt(id, "/memoryleak status")
  await plugin.opencode.modelCall(id)
  assert.equal(plugin.script.seen("command/run").length, 0)
})

// Turns and compactions

const TALK = [
  { id: "msg_1", type: "user", text: "use Postgres" },
  { id: "msg_2", type: "synthetic", text: "put in by a program" },
  { id: "msg_3", type: "shell", command: "ls", status: "exited" },
  {
    id: "msg_4",
    type: "assistant",
    content: [
      { type: "reasoning", text: "thinking" },
      { type: "tool", id: "call_1", name: "read", state: { status: "completed", input: {}, content: [] } },
      { type: "text", text: "done" },
    ],
  },
  { id: "msg_5", type: "idle", outcome: "succeeded" },
]
const SAID = [
  { info: { id: "msg_1", role: "user", time: { created: 1 } }, parts: [{ type: "text", text: "use Postgres" }] },
  { info: { id: "msg_4", role: "assistant", time: { created: 1 } }, parts: [{ type: "text", text: "done" }] },
]

async function talked(more) {
  const plugin = await load(more)
  const id = await begin(plugin)
  TALK.forEach((message) => plugin.opencode.store(id, message))
  return { ...plugin, id }
}

for (const outcome of ["succeeded", "failed", "interrupted"]) {
  test(`a turn that ${outcome} is kept: what was said, without tools and what programs put in`, async () => {
    const { opencode, script, id, directory } = await talked()
    opencode.publish(`session.execution.${outcome}`, { sessionID: id })
    const params = await until(() => script.params("session/idle")[0])
    assert.deepEqual(params, { session: id, messages: SAID, client: "opencode", directory })
  })
}

test("the end of a turn that is told twice counts once", async () => {
  const { opencode, script, id } = await talked()
  for (let told = 0; told < 2; told++) opencode.publish("session.execution.succeeded", { sessionID: id })
  await until(() => script.seen("session/idle").length)
  await pause(100)
  assert.equal(script.seen("session/idle").length, 1)
})

test("with snapshots off the end of a turn is not told", async () => {
  const { opencode, script, id } = await talked({ options: { snapshots: false } })
  opencode.publish("session.execution.succeeded", { sessionID: id })
  await pause(100)
  assert.equal(script.seen("session/idle").length, 0)
})

test("facts that were captured are shown in the session, which does not go on because of it", async () => {
  const answers = { "session/idle": { result: { captured: [{ text: "Ada likes tabs." }] } } }
  const { opencode, id } = await talked({ answers })
  opencode.publish("session.execution.succeeded", { sessionID: id })
  const shown = await until(() => opencode.admitted[0])
  const text = "Noted: Ada likes tabs. (memlines facts review)"
  assert.deepEqual(shown, { sessionID: id, text, description: text, resume: false })
})

test("a compaction is told what must survive, after it was written down once", async () => {
  const { opencode, script, id } = await talked({ answers: SURVIVES })
  assert.deepEqual(await opencode.compact(id), ["kept: Postgres"])
  assert.deepEqual(script.params("session/compacting"), [{ session: id, messages: SAID }])
})

test("where the hook is never called, what should last is written down all the same", async () => {
  const { opencode, script, id } = await talked({ answers: SURVIVES })
  await opencode.compact(id, { isHooked: false })
  assert.deepEqual(await until(() => script.params("session/compacting")[0]), { session: id, messages: SAID })
})

test("where there is no event, the hook alone does it", async () => {
  const { opencode, id } = await talked({ answers: SURVIVES })
  assert.deepEqual(await opencode.compact(id, { isToldOf: false }), ["kept: Postgres"])
})

test("the next compaction writes down again", async () => {
  const { opencode, script, id } = await talked({ answers: SURVIVES })
  await opencode.compact(id)
  opencode.endCompaction(id)
  opencode.store(id, TALK[0])
  await until(() => script.seen("session/start").length === 2)
  await opencode.compact(id)
  assert.equal(script.seen("session/compacting").length, 2)
})

test("after a compaction the session starts again", async () => {
  const { opencode, script, id } = await talked({ answers: { ...CONTEXT, ...SURVIVES } })
  await opencode.compact(id)
  opencode.endCompaction(id)
  await until(() => script.seen("session/start").length === 2)
})

test("a flush that fails leaves the compaction as it is", async () => {
  const answers = { "session/compacting": { error: { code: -32000, message: "disk full" } } }
  const { opencode, id } = await talked({ answers })
  assert.deepEqual(await opencode.compact(id), [])
})

test("with flush off a compaction is left alone", async () => {
  const { opencode, script, id } = await talked({ answers: SURVIVES, options: { flush: false } })
  assert.deepEqual(await opencode.compact(id), [])
  assert.equal(script.seen("session/compacting").length, 0)
})

// Files and events

test("edited notes of this place are told, those of others are not", async () => {
  const { opencode, script, directory } = await load()
  opencode.publish("filesystem.changed", { file: "/p/memory/b.md", event: "change" }, { directory: "/somewhere/else" })
  opencode.publish("filesystem.changed", { file: "memory/a.md", event: "change" }, { directory })
  await until(() => script.seen("file/changed").length)
  await pause(400)
  assert.deepEqual(script.params("file/changed"), [{ path: `${directory}/memory/a.md` }])
})

test("events of another shape break nothing", async () => {
  const plugin = await load({ answers: CONTEXT })
  for (const data of [undefined, null, 7, {}]) {
    for (const type of ["session.created", "session.deleted", "session.compaction.ended", "filesystem.changed", "x"]) {
      plugin.opencode.publish(type, data)
    }
  }
  await begin(plugin)
})

test("a stream of events that breaks off is asked for again", async () => {
  const plugin = await load({ answers: CONTEXT })
  plugin.opencode.breakStreams()
  await until(() => plugin.opencode.subscriptions)
  await begin(plugin)
})

// Loading and the end

test("every hook takes whatever comes", async () => {
  const { opencode } = await load()
  for (const name of ["prompt", "context", "compaction"]) {
    for (const given of [undefined, null, {}, { sessionID: 7 }, { sessionID: "ses_x", prompt: {}, messages: [null] }]) {
      await opencode.hooked(name, given)
    }
  }
  assert.ok(logged.every((line) => line.startsWith("memlines: ")))
})

test("an OpenCode that never answers holds nothing up for long", async () => {
  const plugin = await load({ answers: CONTEXT })
  plugin.opencode.sessions = new Proxy({}, { get: () => ({ toJSON: () => assert.fail("not readable") }) })
  plugin.opencode.stored.ses_x = []
  await plugin.opencode.prompt("ses_x", "when was it?")
  assert.equal((await plugin.opencode.modelCall("ses_x")).system.length, 1)
})

test("the options of opencode.json arrive, and wrong ones are named", async () => {
  const { opencode } = await load({ options: { maintenance: true, recal: true } })
  assert.deepEqual(Object.keys(opencode.tools), TABLE.map(({ name }) => name))
  assert.deepEqual(logged, ["memlines: the option recal is unknown and was ignored"])
})

test("a missing table of tools is a line in the log, and OpenCode goes on", async () => {
  const { opencode } = await load({ lack: "tools.json" })
  assert.deepEqual(opencode.tools, {})
  assert.match(logged[0], /^memlines: the memory is not there: .*tools\.json/)
})

test("loading starts nothing", async () => {
  const { script } = await load()
  await pause(100)
  assert.equal(script.starts.length, 0)
})

test("of two in one place the later one works", async () => {
  const first = await load({ answers: CONTEXT })
  const second = await load({ answers: CONTEXT, directory: first.directory })
  await begin(second)
  const id = first.opencode.begin()
  assert.deepEqual((await first.opencode.modelCall(id)).system, ["You are opencode"])
  assert.equal(first.script.starts.length, 0)
})

test("one without options gives way to one with options", async () => {
  const first = await load({ options: { flush: true } })
  const second = await load({ directory: first.directory })
  assert.deepEqual(second.opencode.tools, {})
})

test("the end of the plugin ends its engine and hears no more", async () => {
  const plugin = await load({ answers: CONTEXT })
  await begin(plugin)
  await plugin.opencode.unload()
  await until(() => plugin.script.entries.some((entry) => entry.end))
  assert.equal(plugin.opencode.subscriptions, 0)
})

test("the end waits for the snapshot", async () => {
  const { opencode, script, id } = await talked({ answers: { "session/idle": { delay: 300 } } })
  opencode.publish("session.execution.succeeded", { sessionID: id })
  await until(() => script.seen("session/idle").length)
  await opencode.unload()
  await until(() => script.entries.some((entry) => entry.end))
})

test("after the end the plugin can be loaded again", async () => {
  const first = await load({ options: { flush: true } })
  await first.opencode.unload()
  const second = await load({ directory: first.directory })
  assert.ok(second.opencode.tools.memory_search)
})
