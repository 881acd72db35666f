// What happens on the user's message: what is known goes beside it, and a suggestion may be shown.
import assert from "node:assert/strict"
import { test } from "node:test"
import { atOnce, FakeClient, load, pause, say, startSession, tell, until } from "./support.mjs"

const KNOWN = { "session/message": { result: { context: "> it was Tuesday", about_past: true } } }
const REMEMBER = { "intent/detect": { result: { intent: "remember", suggestion: "/remember keeps this" } } }

const areTwo = (parts) => parts.length === 2

async function transformed({ hooks, id }, messageID) {
  const parts = [{ id: "prt_1", type: "text", text: "when was it?" }]
  const messages = [{ info: { id: messageID, sessionID: id, role: "user" }, parts }]
  await hooks["experimental.chat.messages.transform"]({}, { messages })
  return parts
}

test("what is known goes beside the message, hidden and after the other parts", async () => {
  const plugin = await load({ answers: KNOWN })
  await startSession(plugin)
  await say(plugin, "")
  const parts = await until(() => say(plugin, "when did we deploy?", "msg_2"), areTwo)
  assert.deepEqual(parts[1], {
    id: "prt_1m",
    sessionID: plugin.id,
    messageID: "msg_2",
    type: "text",
    text: "> it was Tuesday",
    synthetic: true,
  })
  assert.deepEqual(plugin.script.params("session/message")[0], { session: plugin.id, text: "when did we deploy?" })
})

test("the first message stays as it is, and what is known goes beside it in each model call", async () => {
  const plugin = await load({ answers: KNOWN })
  await startSession(plugin)
  const parts = await until(async () => {
    const id = `ses_${Math.random()}`
    assert.equal((await say({ ...plugin, id }, "when did we deploy?", `msg_of_${id}`)).length, 1)
    return transformed(plugin, `msg_of_${id}`)
  }, areTwo)
  assert.equal(parts[1].text, "> it was Tuesday")
})

test("a message about which nothing is known stays as it is", async () => {
  const plugin = await load({ answers: { "session/message": { result: { context: "" } } } })
  await startSession(plugin)
  assert.equal((await say(plugin, "fix the tests")).length, 1)
})

test("only what the user wrote is looked at", async () => {
  const plugin = await load({ answers: KNOWN })
  await startSession(plugin)
  const parts = [
    { id: "prt_1", type: "text", text: "what a program put in", synthetic: true },
    { id: "prt_2", type: "file", url: "file:///x" },
  ]
  await plugin.hooks["chat.message"]({ sessionID: plugin.id }, { message: { id: "msg_1" }, parts })
  assert.equal(parts.length, 2)
  assert.equal(plugin.script.seen("session/message").length, 0)
})

test("a message does not wait for a slow engine", async () => {
  const plugin = await load({ answers: { "session/message": { silent: true } } })
  await startSession(plugin)
  await say(plugin, "")
  assert.equal((await say(plugin, "when was it?")).length, 1)
  assert.equal(plugin.script.seen("session/message").length, 1)
  await until(() => plugin.script.seen("$/cancel").length)
})

test("what comes late goes beside the message at the next model call", async () => {
  const { result } = KNOWN["session/message"]
  const plugin = await load({ answers: { "session/message": { result, delay: 600 } } })
  await startSession(plugin)
  await say(plugin, "")
  assert.equal((await say(plugin, "when was it?", "msg_2")).length, 1)
  const parts = await until(() => transformed(plugin, "msg_2"), areTwo)
  assert.equal(parts[1].text, "> it was Tuesday")
})

test("a message is not held up while the engine starts", async () => {
  const plugin = await load({ answers: KNOWN })
  assert.equal((await atOnce(say(plugin, "when was it?"))).length, 1)
})

test("what came while the engine started goes beside the message of each model call", async () => {
  const plugin = await load({ answers: KNOWN })
  await say(plugin, "when was it?", "msg_cold")
  const parts = await until(() => transformed(plugin, "msg_cold"), areTwo)
  assert.equal(parts[1].text, "> it was Tuesday")
  assert.deepEqual(await transformed(plugin, "msg_cold"), parts)
})

test("what did not come in time is not waited for in the model call", async () => {
  const plugin = await load({ answers: { "session/message": { delay: 1000, result: { context: "late" } } } })
  await say(plugin, "when was it?", "msg_cold")
  assert.equal((await atOnce(transformed(plugin, "msg_cold"))).length, 1)
})

test("the messages of subagents are left alone", async () => {
  const plugin = await load({ answers: { ...KNOWN, ...REMEMBER } })
  await startSession(plugin)
  await startSession({ ...plugin, id: "ses_child" }, { parentID: plugin.id })
  assert.equal((await say({ ...plugin, id: "ses_child" }, "when was it?")).length, 1)
  await pause(100)
  assert.equal(plugin.script.seen("session/message").length, 0)
  assert.equal(plugin.script.seen("intent/detect").length, 0)
})

test("with recall off nothing is asked", async () => {
  const plugin = await load({ answers: KNOWN, options: { recall: false } })
  await startSession(plugin)
  assert.equal((await say(plugin, "when was it?")).length, 1)
  assert.equal(plugin.script.seen("session/message").length, 0)
})

test("a suggestion is shown as a toast", async () => {
  const plugin = await load({ answers: REMEMBER })
  await startSession(plugin)
  await say(plugin, "remember that we deploy on Tuesdays")
  const toast = await until(() => plugin.client.toasts[0])
  assert.equal(toast.title, "Memory")
  assert.equal(toast.message, "/remember keeps this")
  assert.equal(toast.variant, "info")
  assert.equal(typeof toast.duration, "number")
})

test("the message does not wait for the suggestion", async () => {
  const slow = { "intent/detect": { delay: 1500, result: { suggestion: "late" } } }
  const plugin = await load({ answers: slow })
  await startSession(plugin)
  await say(plugin, "remember this")
  assert.deepEqual(plugin.client.toasts, [])
  await until(() => plugin.client.toasts.length)
})

test("without a suggestion there is no toast", async () => {
  const plugin = await load({ answers: { "intent/detect": { result: { intent: "none", suggestion: null } } } })
  await startSession(plugin)
  await say(plugin, "fix the tests")
  await until(() => plugin.script.seen("intent/detect").length)
  await pause(100)
  assert.deepEqual(plugin.client.toasts, [])
})

test("a message has one toast, whatever is written because of it", async () => {
  const plugin = await load({ answers: REMEMBER })
  await startSession(plugin)
  await say(plugin, "remember this")
  await until(() => plugin.client.toasts.length)
  await write(plugin, "docs/plan.md", "Remember: Tuesdays.")
  await until(() => plugin.script.seen("intent/detect").length === 2)
  await pause(100)
  assert.equal(plugin.client.toasts.length, 1)
  await say(plugin, "remember that, too", "msg_2")
  await until(() => plugin.client.toasts.length === 2)
})

test("the text of a slash command is no reason for a suggestion", async () => {
  const plugin = await load({ answers: REMEMBER })
  await startSession(plugin)
  await plugin.hooks["command.execute.before"](
    { command: "review", sessionID: plugin.id, arguments: "" },
    { parts: [] },
  )
  await say(plugin, "Remember to review everything")
  await pause(200)
  assert.equal(plugin.script.seen("intent/detect").length, 0)
})

test("the text of our own commands is not looked up", async () => {
  const plugin = await load({ answers: KNOWN })
  await startSession(plugin)
  const command = { command: "recall", sessionID: plugin.id, arguments: "deploys" }
  await plugin.hooks["command.execute.before"](command, { parts: [] })
  assert.equal((await say(plugin, "Use memory_recall for: deploys")).length, 1)
  assert.equal(plugin.script.seen("session/message").length, 0)
  await until(() => say(plugin, "when was it?", "msg_2"), areTwo)
})

for (const options of [{ toasts: false }, { intent: "off" }]) {
  test(`with ${JSON.stringify(options)} nobody asks what a text means`, async () => {
    const plugin = await load({ answers: REMEMBER, options })
    await startSession(plugin)
    await say(plugin, "remember this")
    await write(plugin, "docs/plan.md", "Remember this.")
    await pause(200)
    assert.equal(plugin.script.seen("intent/detect").length, 0)
  })
}

async function write({ hooks, id }, filePath, content, tool = "write") {
  const args = typeof content === "string" ? { filePath, content } : content
  await hooks["tool.execute.before"]({ tool, sessionID: id, callID: "call_1" }, { args })
}

const PATCH = "*** Begin Patch\n*** Update File: docs/plan.md\n@@\n-old\n+Remember: Tuesdays.\n*** End Patch"
const WRITINGS = [
  ["write", { filePath: "/p/docs/plan.md", content: "Remember: Tuesdays." }],
  ["edit", { filePath: "/p/notes.txt", oldString: "x", newString: "Remember: Tuesdays." }],
  ["multiedit", { filePath: "/p/a.md", edits: [{ newString: "Remember: Tuesdays." }] }],
  ["apply_patch", { patchText: PATCH }],
]
for (const [tool, args] of WRITINGS) {
  test(`what ${tool} writes into a document may be suggested to be remembered`, async () => {
    const plugin = await load({ answers: REMEMBER })
    await startSession(plugin)
    await say(plugin, "")
    await write(plugin, "", args, tool)
    await until(() => plugin.client.toasts.length)
    assert.deepEqual(plugin.script.params("intent/detect"), [{ text: "Remember: Tuesdays." }])
  })
}

const NOT_LOOKED_AT = [
  ["write", { filePath: "/p/MEMORY.md", content: "Remember: Tuesdays." }],
  ["write", { filePath: "/p/memory/2026-05-01.md", content: "Remember: Tuesdays." }],
  ["write", { filePath: "/p/src/index.ts", content: "remember()" }],
  ["edit", { filePath: "/p/a.md" }],
  ["multiedit", { filePath: "/p/a.md", edits: "wrong" }],
  ["bash", { command: "remember" }],
  ["write", null],
]
for (const [tool, args] of NOT_LOOKED_AT) {
  test(`${tool} with ${JSON.stringify(args)} is not looked at`, async () => {
    const plugin = await load({ answers: REMEMBER })
    await startSession(plugin)
    await write(plugin, "", args, tool)
    await pause(100)
    assert.equal(plugin.script.seen("intent/detect").length, 0)
  })
}

test("a question in a document is no reason for a suggestion", async () => {
  const plugin = await load({ answers: { "intent/detect": { result: { intent: "query", suggestion: "/recall" } } } })
  await startSession(plugin)
  await say(plugin, "")
  await write(plugin, "docs/plan.md", "When did we deploy?")
  await until(() => plugin.script.seen("intent/detect").length)
  await pause(100)
  assert.deepEqual(plugin.client.toasts, [])
})

const OWN_MODEL = {
  "intent/request": { result: { instructions: "Answer in JSON", prompt: "What does it ask for?" } },
  "intent/parse": { result: { intent: "remember", suggestion: "/remember keeps this" } },
}

test("OpenCode's own model can be asked, in a session that is removed again", async () => {
  const client = new FakeClient()
  client.reply = async () => '{"intent": "remember"}'
  const plugin = await load({ answers: OWN_MODEL, options: { intent: "opencode" }, client })
  await startSession(plugin)
  await say(plugin, "keep this in mind")
  await until(() => client.calls.some((call) => call.name === "delete"))
  await until(() => client.toasts.length)
  const prompt = client.calls.find((call) => call.name === "prompt")
  assert.equal(prompt.system, "Answer in JSON")
  assert.deepEqual(prompt.tools, { "*": false })
  assert.deepEqual(prompt.model, { providerID: "big", modelID: "model" })
  assert.deepEqual(plugin.script.params("intent/parse"), [
    { text: "keep this in mind", reply: '{"intent": "remember"}' },
  ])
})

test("the model is told nothing else in that session", async () => {
  const client = new FakeClient()
  const plugin = await load({ answers: OWN_MODEL, options: { intent: "opencode" }, client })
  const system = ["You are opencode\n<env>", "more"]
  client.reply = async () => {
    await plugin.hooks["experimental.chat.system.transform"]({ sessionID: "ses_own", model: {} }, { system })
    return ""
  }
  await startSession(plugin)
  await say(plugin, "keep this in mind")
  await until(() => plugin.script.seen("intent/parse").length)
  assert.deepEqual(system, ["Answer in JSON"])
})

test("the small model is the one that is asked", async () => {
  const client = new FakeClient()
  const plugin = await load({ answers: OWN_MODEL, options: { intent: "opencode" }, client })
  await plugin.hooks.config({ small_model: "small/one/mini" })
  await startSession(plugin)
  await say(plugin, "keep this in mind")
  const prompt = await until(() => client.calls.find((call) => call.name === "prompt"))
  assert.deepEqual(prompt.model, { providerID: "small", modelID: "one/mini" })
})

test("without a reply of OpenCode's model the rules decide", async () => {
  const client = new FakeClient()
  client.reply = async () => {
    throw new Error("no such model")
  }
  const plugin = await load({ answers: OWN_MODEL, options: { intent: "opencode" }, client })
  await startSession(plugin)
  await say(plugin, "keep this in mind")
  await until(() => plugin.script.seen("intent/parse").length)
  assert.deepEqual(plugin.script.params("intent/parse"), [{ text: "keep this in mind", reply: "" }])
})

test("the session in which the model is asked is none of the user's", async () => {
  const plugin = await load({ answers: { ...KNOWN, ...REMEMBER, "session/start": { result: { context: "notes" } } } })
  const own = { ...plugin, id: "ses_own" }
  const info = { id: own.id, title: "memlines: what does this message ask for?" }
  await tell(plugin.hooks, "session.created", { info })
  assert.equal((await say(own, "What does it ask for?")).length, 1)
  await tell(plugin.hooks, "session.idle", { sessionID: own.id })
  await pause(100)
  assert.equal(plugin.script.starts.length, 0)
})
