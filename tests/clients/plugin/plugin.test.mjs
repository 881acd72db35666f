// The plugin as a whole: how it is loaded, twice loaded, configured, and how it fails.
import assert from "node:assert/strict"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { pathToFileURL } from "node:url"
import { server, setup } from "../../../integrations/opencode/memlines/plugin.js"
import { OpenCode2 } from "./fake_v2.mjs"
import { atOnce, closing, FakeClient, install, load, pause, say, Script, SOURCE } from "./support.mjs"
import { startSession, systemPrompt, tell, temporaryFolder, until } from "./support.mjs"

const input = (client = new FakeClient(), directory = temporaryFolder()) => ({ client, directory, worktree: directory })
const folderOf = (installed) => pathToFileURL(`${join(installed, "memlines")}/`)

test("the file that OpenCode finds exports a definition for both versions, and nothing else", async () => {
  const installed = install(new Script())
  writeFileSync(join(installed, "plugins", "package.json"), '{"type": "module"}')
  const module = await import(`${pathToFileURL(join(installed, "plugins", "memlines.js"))}`)
  assert.deepEqual(Object.keys(module), ["default"])
  assert.deepEqual(Object.keys(module.default), ["id", "server", "setup"])
  assert.equal(module.default.id, "memlines")
  const hooks = await module.default.server(input())
  assert.ok(hooks.tool.memory_search)
  await hooks.dispose()
})

test("only built-in modules are imported, and nothing is printed", () => {
  for (const name of readdirSync(join(SOURCE, "memlines")).filter((name) => name.endsWith(".js"))) {
    const text = readFileSync(join(SOURCE, "memlines", name), "utf8")
    for (const [, from] of text.matchAll(/^import .* from "(.*)"$/gm)) assert.match(from, /^(node:|\.\/)/, name)
    const printed = [...text.matchAll(/console\.\w+/g)].map(([call]) => call)
    assert.deepEqual(printed, name === "v2.js" ? ["console.error"] : [], name) // where OpenCode 2 has its log
  }
})

test("loading starts nothing and waits for nothing", async () => {
  const script = new Script()
  const hooks = await atOnce(server(input(), undefined, folderOf(install(script))))
  await pause(100)
  assert.equal(script.starts.length, 0)
  await hooks.dispose()
})

test("a missing table of tools is a line in the log, and the client goes on", async () => {
  const client = new FakeClient()
  assert.deepEqual(await server(input(client), undefined, pathToFileURL("/nowhere/")), {})
  await until(() => client.logged.some((line) => line.level === "error" && line.message.includes("tools.json")))
})

test("without a command the tools say how to install it", async () => {
  const hooks = await server(input(), undefined, folderOf(install(new Script(), null)))
  const { output } = await hooks.tool.memory_recall.execute({}, {})
  assert.match(output, /^memory unavailable: .*memlines install opencode/)
})

test("a log that fails breaks nothing", async () => {
  const client = new FakeClient()
  client.app.log = () => {
    throw new Error("no log")
  }
  const { hooks } = await load({ client, options: { nonsense: 1 } })
  assert.ok(hooks.tool)
})

test("every hook takes whatever comes", async () => {
  const { hooks, client } = await load()
  for (const [name, hook] of Object.entries(hooks)) {
    if (typeof hook !== "function" || name === "dispose") continue
    const created = { event: { type: "session.created" } }
    for (const given of [undefined, null, {}, { event: {} }, created, { sessionID: 7 }]) {
      assert.equal(await hook(given, given === null ? null : {}), undefined, name)
    }
  }
  assert.ok(client.logged.length > 0)
})

test("a client that never answers holds nothing up for long", async () => {
  const client = new FakeClient()
  client.session.get = () => new Promise(() => undefined)
  const plugin = await load({ client, answers: { "session/start": { result: { context: "x" } } } })
  await say(plugin, "when was it?")
  assert.equal((await systemPrompt(plugin)).length, 1)
})

test("the log holds a line once a minute", async () => {
  const client = new FakeClient()
  const { hooks } = await load({ client, options: { command: ["/nowhere/python"] } })
  for (let n = 0; n < 5; n++) await tell(hooks, "session.created", { info: { id: `ses_${n}` } })
  await pause(100)
  const messages = client.logged.map((line) => line.message)
  assert.equal(new Set(messages).size, messages.length)
  assert.ok(client.logged.every((line) => line.service === "memlines"))
})

test("of two in one directory the later one works", async () => {
  const first = await load({ answers: { "session/start": { result: { context: "first" } } } })
  const second = await load({
    directory: first.directory,
    answers: { "session/start": { result: { context: "second" } } },
  })
  await tell(first.hooks, "session.created", { info: { id: second.id } })
  await startSession(second)
  assert.deepEqual(await systemPrompt({ ...first, id: second.id }), ["You are opencode\n<env>"])
  assert.deepEqual((await systemPrompt(second)).slice(1), ["second"])
  assert.equal(first.script.starts.length, 0)
})

test("one without options gives way to one with options, in whichever order", async () => {
  const options = { toasts: false }
  const explicit = await load({ options })
  assert.deepEqual((await load({ directory: explicit.directory })).hooks, {})
  const plain = await load()
  assert.ok((await load({ directory: plain.directory, options })).hooks.tool)
  assert.deepEqual((await load({ directory: plain.directory })).hooks, {})
})

test("the engine of one that is replaced ends", async () => {
  const first = await load()
  await startSession(first)
  await load({ directory: first.directory })
  await until(() => first.script.entries.some((entry) => entry.end))
})

test("after the end of one another can take the directory", async () => {
  const first = await load({ options: { toasts: false } })
  await first.hooks.dispose()
  assert.ok((await load({ directory: first.directory })).hooks.tool)
})

test("the end of one that was replaced does not free the directory", async () => {
  const first = await load()
  const second = await load({ directory: first.directory, options: { toasts: false } })
  await first.hooks.dispose()
  assert.deepEqual((await load({ directory: second.directory })).hooks, {})
})

test("two directories have an engine each", async () => {
  const [first, second] = [await load(), await load()]
  await startSession(first)
  await startSession(second)
  assert.notEqual(first.script.starts[0].start, second.script.starts[0].start)
})

test("the beginnings of a context, which OpenCode 1.18 brings to setup, are left alone", async () => {
  const printed = []
  const before = console.error
  console.error = (line) => printed.push(line)
  const domains = ["agent", "aisdk", "catalog", "command", "integration", "plugin", "reference", "skill"]
  const ctx = Object.fromEntries(domains.map((name) => [name, { transform: () => assert.fail(name) }]))
  assert.equal(await setup({ ...ctx, options: {} }), undefined)
  console.error = before
  assert.deepEqual(printed, [])
})

for (const order of ["before", "after"]) {
  test(`if OpenCode 1 called setup in full ${order} server, only server would work`, async () => {
    const opencode = new OpenCode2(temporaryFolder())
    const beSetUp = () => opencode.load({ default: { id: "memlines", setup } })
    if (order === "before") await beSetUp()
    const plugin = await load({ directory: opencode.directory, answers: { memory_recall: { result: { text: "found" } } } })
    if (order === "after") await beSetUp()
    closing(() => opencode.unload())
    assert.equal((await plugin.hooks.tool.memory_recall.execute({}, {})).output, "found")
    const id = opencode.begin()
    await opencode.prompt(id, "when was it?")
    assert.equal((await opencode.modelCall(id)).messages[0].content.length, 1)
  })
}

test("the option workspace is handed to the engine", async () => {
  const plugin = await load({ options: { workspace: "/home/ana/notes" } })
  await startSession(plugin)
  assert.deepEqual(plugin.script.starts[0].argv.slice(-2), ["--workspace", "/home/ana/notes"])
})

test("the command of the installer brings its environment", async () => {
  const plugin = await load()
  await startSession(plugin)
  assert.equal(plugin.script.starts[0].env, "yes")
})

test("options that are unknown or of the wrong type are named once and ignored", async () => {
  const client = new FakeClient()
  const options = { recal: true, toasts: "no", command: "python", intent: "gpt", workspace: 7 }
  const { hooks } = await load({ client, options })
  assert.ok(hooks.tool)
  const lines = client.logged.map((line) => line.message)
  assert.deepEqual(lines, [
    "the option recal is unknown and was ignored",
    "the option toasts has to be true or false and was ignored",
    "the option command has to be a list of words and was ignored",
    "the option intent has to be engine, opencode or off and was ignored",
    "the option workspace has to be the path of a folder and was ignored",
  ])
})
