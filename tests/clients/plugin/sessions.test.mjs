// The start of a session, and what the model is told about it.
import assert from "node:assert/strict"
import { test } from "node:test"
import { atOnce, FakeClient, load, pause, Script, startSession, systemPrompt, say, tell, until } from "./support.mjs"

const CONTEXT = { "session/start": { result: { context: "<memlines-context>notes</memlines-context>" } } }
const TITLE = "You are a title generator. You output ONLY a thread title. Nothing else."
const COMPACTION = "You are a context summarization agent. You are given a conversation"

test("a new session is begun in the engine", async () => {
  const plugin = await load({ answers: CONTEXT })
  await startSession(plugin)
  assert.deepEqual(plugin.script.params("session/start"), [{ session: plugin.id }])
})

test("nothing is started before there is a session", async () => {
  const { hooks, script } = await load({ answers: CONTEXT })
  await tell(hooks, "server.connected", {})
  await pause(100)
  assert.equal(script.starts.length, 0)
})

test("each model call gets the same context", async () => {
  const plugin = await load({ answers: CONTEXT })
  await startSession(plugin)
  const first = await systemPrompt(plugin)
  assert.deepEqual(first.slice(1), ["<memlines-context>notes</memlines-context>"])
  assert.deepEqual(await systemPrompt(plugin), first)
  assert.equal(plugin.script.seen("session/start").length, 1)
})

for (const prompt of [TITLE, COMPACTION]) {
  test(`the helper "${prompt.slice(0, 30)}" gets no context`, async () => {
    const plugin = await load({ answers: CONTEXT })
    await startSession(plugin)
    assert.deepEqual(await systemPrompt(plugin, prompt), [prompt])
  })
}

test("a model call without a session gets no context", async () => {
  const { hooks } = await load({ answers: CONTEXT })
  const system = ["Create an agent"]
  await hooks["experimental.chat.system.transform"]({ model: {} }, { system })
  assert.equal(system.length, 1)
})

test("the session of a subagent is not begun and gets no context", async () => {
  const plugin = await load({ answers: CONTEXT })
  await startSession(plugin, { parentID: "ses_parent" })
  assert.deepEqual(await systemPrompt(plugin), ["You are opencode\n<env>"])
  assert.equal(plugin.script.starts.length, 0)
})

test("a session from before the plugin was loaded is begun with its first message", async () => {
  const plugin = await load({ answers: CONTEXT })
  await say(plugin, "hello again")
  await until(() => systemPrompt(plugin), (system) => system.length === 2)
})

test("a session that goes on in another run of OpenCode holds its context once", async () => {
  for (let run = 0; run < 2; run++) {
    const plugin = { ...(await load({ answers: CONTEXT })), id: "ses_goes_on" }
    const parts = await say(plugin, "hello again", `msg_${run}`)
    const system = await until(() => systemPrompt(plugin), (system) => system.length === 2)
    assert.equal(system.filter((text) => text.includes("memlines-context")).length, 1)
    assert.ok(!JSON.stringify(parts).includes("memlines-context")) // OpenCode would keep it with the message
  }
})

test("an old session of a subagent is recognised by looking it up", async () => {
  const client = new FakeClient()
  const plugin = await load({ answers: CONTEXT, client })
  client.sessions[plugin.id] = { id: plugin.id, parentID: "ses_parent" }
  await say(plugin, "explore the code")
  assert.equal((await systemPrompt(plugin)).length, 1)
  assert.equal(plugin.script.starts.length, 0)
})

test("the first model call waits a moment for the context, and only once", async () => {
  const plugin = await load({ answers: { "session/start": { silent: true } } })
  await startSession(plugin)
  const begun = Date.now()
  assert.equal((await systemPrompt(plugin)).length, 1)
  assert.ok(Date.now() - begun >= 200)
  assert.equal((await atOnce(systemPrompt(plugin))).length, 1)
})

test("a context that comes late is used from then on", async () => {
  const plugin = await load({ answers: { "session/start": { delay: 2000, result: { context: "late" } } } })
  await startSession(plugin)
  assert.equal((await systemPrompt(plugin)).length, 1)
  const system = await until(async () => (await systemPrompt(plugin)).slice(1), (system) => system.length)
  assert.deepEqual(system, ["late"])
})

test("a start that failed is tried again with the next message", async () => {
  const plugin = await load({ answers: { "session/start": { error: { code: -32000, message: "locked" } } } })
  await startSession(plugin)
  await say(plugin, "hello")
  await until(() => plugin.script.seen("session/start").length === 2)
})

test("an empty context adds nothing", async () => {
  const plugin = await load({ answers: { "session/start": { result: { context: "" } } } })
  await startSession(plugin)
  assert.equal((await systemPrompt(plugin)).length, 1)
})

test("with bootstrap off the session is begun and nothing is told", async () => {
  const plugin = await load({ answers: CONTEXT, options: { bootstrap: false } })
  await startSession(plugin)
  assert.equal((await systemPrompt(plugin)).length, 1)
})

test("after a compaction the context is fetched again", async () => {
  const plugin = await load({ answers: CONTEXT })
  await startSession(plugin)
  await tell(plugin.hooks, "session.compacted", { sessionID: plugin.id })
  await until(() => plugin.script.seen("session/start").length === 2)
  await until(() => systemPrompt(plugin), (system) => system.length === 2)
})

test("a memory that was switched off elsewhere is noticed with the next message", async () => {
  const used = { "session/start": { result: { context: "> old" } }, "session/message": { result: { in_use: true } } }
  const plugin = await load({ answers: used })
  await startSession(plugin)
  await say(plugin, "hello")
  await until(() => plugin.script.seen("session/message").length)
  plugin.script.change({ "session/start": { result: { context: "" } }, "session/message": { result: { in_use: false } } })
  await until(async () => {
    await say(plugin, "hello again")
    return (await systemPrompt(plugin)).length === 1
  })
})

test("a deleted session is forgotten", async () => {
  const plugin = await load({ answers: CONTEXT })
  await startSession(plugin)
  await tell(plugin.hooks, "session.deleted", { sessionID: plugin.id, info: { id: plugin.id } })
  await systemPrompt(plugin)
  await until(() => plugin.script.seen("session/start").length === 2)
})

test("the sessions that were not used for long are forgotten", async () => {
  const plugin = await load({ answers: CONTEXT })
  await startSession(plugin)
  for (let n = 0; n < 200; n++) await systemPrompt({ ...plugin, id: `ses_child_${n}` })
  await pause(300)
  const before = plugin.script.seen("session/start").length
  await systemPrompt(plugin)
  await until(() => plugin.script.seen("session/start").length > before)
})

test("a broken engine leaves the prompt as it is", async () => {
  const script = new Script({}, {})
  const plugin = await load({ script, options: { command: ["/nowhere/python"] } })
  await tell(plugin.hooks, "session.created", { info: { id: plugin.id } })
  assert.deepEqual(await systemPrompt(plugin), ["You are opencode\n<env>"])
})
