// The tools as OpenCode and the model see them.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { NOT_INSTALLED } from "../../../integrations/opencode/memlines/process.js"
import { load, Script, SOURCE, until } from "./support.mjs"

const TABLE = JSON.parse(readFileSync(join(SOURCE, "memlines", "tools.json"), "utf8"))

test("the tools that look after the index are not shown", async () => {
  const { hooks } = await load()
  const shown = TABLE.filter((tool) => !tool.maintenance).map((tool) => tool.name)
  assert.deepEqual(Object.keys(hooks.tool), shown)
  assert.equal("memory_status" in hooks.tool, false)
})

test("every tool of the table is there if that is wanted, with its description", async () => {
  const { hooks } = await load({ options: { maintenance: true } })
  assert.deepEqual(Object.keys(hooks.tool), TABLE.map((tool) => tool.name))
  for (const { name, description, parameters } of TABLE) {
    assert.equal(hooks.tool[name].description, description)
    assert.deepEqual(hooks.tool[name].args, parameters.properties)
  }
})

test("the model sees which arguments are required", async () => {
  const { hooks } = await load()
  const output = { description: "", parameters: {} }
  await hooks["tool.definition"]({ toolID: "memory_search" }, output)
  assert.deepEqual(output.jsonSchema.required, ["query"])
})

test("the tools of others are left as they are", async () => {
  const { hooks } = await load()
  const output = { description: "", parameters: {} }
  await hooks["tool.definition"]({ toolID: "bash" }, output)
  assert.deepEqual(output, { description: "", parameters: {} })
})

test("a call reaches the engine with its arguments and session", async () => {
  const { hooks, script } = await load({ answers: { memory_search: { result: { text: "a hit", data: {} } } } })
  const result = await hooks.tool.memory_search.execute({ query: "deploy" }, { sessionID: "ses_1" })
  assert.deepEqual(result, { title: "deploy", output: "a hit", metadata: { failed: false, data: {} } })
  assert.deepEqual(script.params("tools/call"), [
    { name: "memory_search", arguments: { query: "deploy" }, session: "ses_1" },
  ])
})

test("wrong arguments are told as such", async () => {
  const error = { code: -32602, message: "query is missing" }
  const { hooks } = await load({ answers: { memory_search: { error } } })
  const { output } = await hooks.tool.memory_search.execute({}, { sessionID: "ses_1" })
  assert.equal(output, "memory_search was not run: query is missing")
})

for (const given of [undefined, null, "text", [1]]) {
  test(`arguments that are ${JSON.stringify(given)} become none`, async () => {
    const { hooks, script } = await load()
    await hooks.tool.memory_recall.execute(given, { sessionID: "ses_1" })
    assert.deepEqual(script.params("tools/call")[0].arguments, {})
  })
}

test("an error of the engine is a readable answer", async () => {
  const error = { code: -32000, message: "the disk is full", data: { todo: "Make room" } }
  const { hooks } = await load({ answers: { memory_remember: { error } } })
  const { output, metadata } = await hooks.tool.memory_remember.execute({ text: "x" }, {})
  assert.equal(output, "memory unavailable: the disk is full. Make room")
  assert.equal(metadata.failed, true)
})

test("a memory that is switched off is not called unavailable", async () => {
  const error = { code: -32005, message: "memory is switched off", data: { code: "off", disabled: true } }
  const { hooks } = await load({ answers: { memory_search: { error } } })
  const { output, metadata } = await hooks.tool.memory_search.execute({ query: "x" }, {})
  assert.equal(output, "memory is switched off")
  assert.deepEqual(metadata, { failed: true, data: { code: "off", disabled: true } })
})

test("programs get the result with the engine's field names", async () => {
  const data = { results: [{ citation: "memory/a.md#L1" }], mode: "words" }
  const { hooks } = await load({ answers: { memory_search: { result: { text: "found", data } } } })
  const { output, metadata } = await hooks.tool.memory_search.execute({ query: "x" }, {})
  assert.equal(output, "found")
  assert.deepEqual(metadata, { failed: false, data })
})

test("where Memlines is not installed every tool and /memory say so, each time", async () => {
  const { hooks } = await load({ options: { command: ["/nowhere/python"] } })
  const told = `memory unavailable: ${NOT_INSTALLED}`
  for (let round = 0; round < 3; round++) {
    for (const tool of Object.values(hooks.tool)) assert.equal((await tool.execute({}, {})).output, told)
    const parts = []
    await hooks["command.execute.before"]({ command: "memory", sessionID: "ses_1", arguments: "status" }, { parts })
    assert.equal(parts[0].text, `<memlines-result>\n${told}\n</memlines-result>`)
  }
})

test("an engine that keeps dying is a readable answer", async () => {
  const { hooks } = await load({ answers: { memory_recall: { die: 1, words: "broken installation" } } })
  for (let call = 0; call < 3; call++) await hooks.tool.memory_recall.execute({}, {})
  const { output } = await hooks.tool.memory_recall.execute({}, {})
  assert.equal(output, "memory unavailable: the engine keeps ending: broken installation")
})

test("a search goes on in a new engine when the old one dies", async () => {
  const { hooks } = await load({ answers: { memory_search: { dieOnce: 1, result: { text: "found" } } } })
  assert.equal((await hooks.tool.memory_search.execute({ query: "x" }, {})).output, "found")
})

test("the user's abort ends a call", async () => {
  const script = new Script({ memory_search: { silent: true } })
  const { hooks } = await load({ script })
  const abort = new AbortController()
  const call = hooks.tool.memory_search.execute({ query: "x" }, { abort: abort.signal })
  await until(() => script.seen("tools/call").length)
  abort.abort()
  assert.equal((await call).output, "memory unavailable: cancelled")
})
