// The engine as a child process: started late, matched by id, bounded, restarted.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { test } from "node:test"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { Engine } from "../../../integrations/opencode/memlines/engine.js"
import { Log } from "../../../integrations/opencode/memlines/log.js"
import { NOT_INSTALLED } from "../../../integrations/opencode/memlines/process.js"
import { FakeClient, pause, Script, SOURCE, temporaryFolder, until } from "./support.mjs"

function engineFor(command, env = {}) {
  const client = new FakeClient()
  const cwd = temporaryFolder()
  const engine = new Engine({ command, env, cwd }, { directory: cwd, worktree: "/" }, new Log(client.put))
  return { engine, client, cwd }
}
const status = { name: "memory_status", arguments: {} }
const ask = (engine, params = status, more = {}) => engine.call("tools/call", params, { limitMs: 5000, ...more })

test("nothing is started before the first call", async () => {
  const script = new Script()
  engineFor(script.command)
  await pause(100)
  assert.equal(script.starts.length, 0)
})

test("initialize comes first and names the place", async () => {
  const script = new Script()
  const { engine, cwd } = engineFor(script.command)
  await ask(engine)
  const [first] = script.entries.filter((entry) => entry.method)
  assert.equal(first.method, "initialize")
  assert.deepEqual(first.params, { protocol: 1, client: { name: "opencode" }, directory: cwd, worktree: "/" })
  engine.stop()
})

test("the engine is ready once it has answered", async () => {
  const script = new Script()
  const { engine } = engineFor(script.command)
  assert.equal(engine.isReady, false)
  await ask(engine)
  assert.equal(engine.isReady, true)
  engine.stop()
})

test("answers are matched by id, not by order", async () => {
  const script = new Script({ slow: { delay: 100, result: 1 }, quick: { result: 2 } })
  const { engine } = engineFor(script.command)
  const patience = { limitMs: 5000 }
  assert.deepEqual(await Promise.all([engine.call("slow", {}, patience), engine.call("quick", {}, patience)]), [1, 2])
  engine.stop()
})

test("lines that are not answers, and answers for others, are passed over", async () => {
  const script = new Script({ memory_status: { garbage: true, wrongId: true, result: { text: "here" } } })
  const { engine } = engineFor(script.command)
  assert.deepEqual(await ask(engine), { text: "here" })
  engine.stop()
})

test("a call that takes too long is given up and cancelled", async () => {
  const script = new Script({ memory_status: { silent: true } })
  const { engine } = engineFor(script.command)
  await ask(engine, { name: "memory_get" })
  await assert.rejects(ask(engine, status, { limitMs: 400 }), /no answer to tools\/call within 400 ms/)
  const { id } = await until(() => script.seen("tools/call")[1])
  assert.deepEqual((await until(() => script.params("$/cancel")[0])), { id })
  engine.stop()
})

test("an answer that comes after its time harms nobody", async () => {
  const script = new Script({ memory_status: { delay: 600, result: { text: "late" } }, memory_get: { result: 7 } })
  const { engine } = engineFor(script.command)
  await ask(engine, { name: "memory_get" })
  await assert.rejects(ask(engine, status, { limitMs: 50 }))
  await pause(700)
  assert.equal(await ask(engine, { name: "memory_get" }), 7)
  engine.stop()
})

test("an abort ends the wait and cancels the request", async () => {
  const script = new Script({ memory_status: { silent: true } })
  const { engine } = engineFor(script.command)
  const abort = new AbortController()
  const call = ask(engine, status, { signal: abort.signal })
  await until(() => script.seen("tools/call").length)
  abort.abort()
  await assert.rejects(call, /cancelled/)
  await until(() => script.seen("$/cancel").length)
  engine.stop()
})

test("what is aborted already is not sent", async () => {
  const script = new Script()
  const { engine } = engineFor(script.command)
  await ask(engine)
  await assert.rejects(ask(engine, status, { signal: AbortSignal.abort() }), /cancelled/)
  assert.equal(script.seen("tools/call").length, 1)
  engine.stop()
})

test("a request whose engine dies is asked once more of a new one", async () => {
  const script = new Script({ memory_search: { dieOnce: 3, result: { text: "found" } } })
  const { engine } = engineFor(script.command)
  assert.deepEqual(await ask(engine, { name: "memory_search" }), { text: "found" })
  assert.equal(script.starts.length, 2)
  engine.stop()
})

test("a request is repeated only once", async () => {
  const script = new Script({ memory_search: { die: 3 } })
  const { engine } = engineFor(script.command)
  await assert.rejects(ask(engine, { name: "memory_search" }), /exit code 3: the engine fell over/)
  assert.equal(script.seen("tools/call").length, 2)
  engine.stop()
})

test("forgetting is never repeated", async () => {
  const script = new Script({ memory_forget: { dieOnce: 3, result: { text: "gone" } } })
  const { engine } = engineFor(script.command)
  await assert.rejects(ask(engine, { name: "memory_forget" }), /exit code 3/)
  assert.equal(script.seen("tools/call").length, 1)
  engine.stop()
})

test("after it died the engine is there for the next call", async () => {
  const script = new Script({ memory_forget: { dieOnce: 3, result: { text: "gone" } } })
  const { engine } = engineFor(script.command)
  await assert.rejects(ask(engine, { name: "memory_forget" }))
  assert.deepEqual(await ask(engine, { name: "memory_forget" }), { text: "gone" })
  engine.stop()
})

test("an engine that keeps ending is left alone for a while", async () => {
  const script = new Script({ memory_status: { die: 1, words: "out of order" } })
  const { engine } = engineFor(script.command)
  for (let call = 0; call < 3; call++) await assert.rejects(ask(engine))
  const keepsEnding = { message: "the engine keeps ending: out of order" }
  await assert.rejects(ask(engine), keepsEnding)
  await assert.rejects(ask(engine), keepsEnding)
  assert.equal(script.starts.length, 6)
})

const withoutMemlines = {
  "nothing says how to start it": [],
  "its Python is not there": ["/nowhere/python", "-m", "memlines"],
  "its Python is no program": [join(SOURCE, "memlines", "tools.json")],
  "its Python has no such module": [
    process.execPath,
    "-e",
    "console.error('/usr/bin/python3: No module named memlines'); process.exit(1)",
  ],
}

for (const [what, command] of Object.entries(withoutMemlines)) {
  test(`where Memlines is not installed every call says so in the same words: ${what}`, async () => {
    const { engine } = engineFor(command)
    for (let call = 0; call < 10; call++) await assert.rejects(ask(engine), { message: NOT_INSTALLED })
    const together = await Promise.allSettled([ask(engine), ask(engine), engine.call("session/start", {}, { limitMs: 5000 })])
    assert.deepEqual(together.map(({ reason }) => reason.message), Array(3).fill(NOT_INSTALLED))
  })
}

test("an engine that was found once is not taken for missing when it falls over", async () => {
  const script = new Script({ memory_forget: { die: 1, words: "ImportError: No module named numpy" } })
  const { engine } = engineFor(script.command)
  await assert.rejects(ask(engine, { name: "memory_forget" }), /exit code 1: ImportError: No module named numpy/)
})

test("a folder that does not exist any more is an error that says so", async () => {
  const engine = new Engine(
    { command: [process.execPath], env: {}, cwd: "/nowhere/at/all" },
    { directory: "/nowhere/at/all", worktree: "/" },
    new Log(new FakeClient().put),
  )
  await assert.rejects(ask(engine), /cannot be started/)
})

test("an unknown version of the protocol is told, not tried again and again", async () => {
  const error = { code: -32003, message: "protocol 1 is not known; 2 is" }
  const script = new Script({ initialize: { error }, memory_status: { delay: 300 } })
  const { engine } = engineFor(script.command)
  await assert.rejects(ask(engine), /protocol 1 is not known/)
  await assert.rejects(ask(engine), /protocol 1 is not known/)
  assert.ok(script.starts.length <= 2)
})

test("a line that is too long ends the engine instead of filling the memory", async () => {
  const script = new Script({ memory_forget: { huge: 17 * 1024 * 1024 } })
  const { engine } = engineFor(script.command)
  await assert.rejects(ask(engine, { name: "memory_forget" }), /a line that is too long/)
})

test("a big answer comes whole", async () => {
  const text = "é".repeat(2_000_000)
  const script = new Script({ memory_get: { result: { text } } })
  const { engine } = engineFor(script.command)
  assert.equal((await ask(engine, { name: "memory_get" })).text, text)
  engine.stop()
})

test("a big request reaches an engine that is slow to read", async () => {
  const script = new Script()
  const { engine } = engineFor(script.command)
  const text = "x".repeat(3_000_000)
  await Promise.all([1, 2, 3].map(() => engine.call("session/idle", { text }, { limitMs: 10_000 })))
  assert.deepEqual(script.params("session/idle").map((params) => params.text.length), [3e6, 3e6, 3e6])
  engine.stop()
})

test("more requests than the engine takes are refused at once", async () => {
  const script = new Script({ memory_status: { silent: true } })
  const { engine } = engineFor(script.command)
  const calls = Array.from({ length: 70 }, () => ask(engine, status, { limitMs: 1000 }))
  const results = await Promise.allSettled(calls)
  assert.match(results.at(-1).reason.message, /too many requests/)
  engine.stop()
})

test("the error of Memlines comes with what to do", async () => {
  const error = { code: -32000, message: "the index is locked", data: { code: "x", todo: "Try again" } }
  const script = new Script({ memory_status: { error } })
  const { engine } = engineFor(script.command)
  await assert.rejects(ask(engine), { message: "the index is locked. Try again", code: -32000 })
  engine.stop()
})

test("stopping ends the engine's input", async () => {
  const script = new Script()
  const { engine } = engineFor(script.command)
  await ask(engine)
  engine.stop()
  await until(() => script.entries.some((entry) => entry.end))
  await assert.rejects(ask(engine), /closed/)
})

test("a call that is open while the engine is stopped ends too", async () => {
  const script = new Script({ memory_forget: { silent: true } })
  const { engine } = engineFor(script.command)
  const call = ask(engine, { name: "memory_forget" })
  await until(() => script.seen("tools/call").length)
  engine.stop()
  await assert.rejects(call, /ended/)
})

test("an engine that hangs is ended, and the next call gets a new one", async (context) => {
  const script = new Script({ memory_status: { silent: true }, memory_get: { result: 7 } })
  const { engine } = engineFor(script.command)
  await ask(engine, { name: "memory_get" })
  await pause(5)
  context.mock.timers.enable({ apis: ["setTimeout"] })
  const call = ask(engine, status, { limitMs: 20_000 })
  while (script.seen("tools/call").length < 2) await new Promise(setImmediate)
  context.mock.timers.tick(20_000)
  await assert.rejects(call, /no answer/)
  context.mock.timers.reset()
  assert.equal(await ask(engine, { name: "memory_get" }), 7)
  assert.equal(script.starts.length, 2)
  engine.stop()
})

test("the environment of the command is added to the client's", async () => {
  const script = new Script()
  const { engine } = engineFor(script.command, { FROM_COMMAND_JSON: "yes" })
  await ask(engine)
  assert.equal(script.starts[0].env, "yes")
  engine.stop()
})

test("the engine does not keep the client alive, and ends with it", async () => {
  const script = new Script({ memory_status: { silent: true } })
  const url = pathToFileURL(join(SOURCE, "memlines", "engine.js"))
  const program = `
    import { Engine } from "${url}"
    const place = { directory: ".", worktree: "/" }
    const launch = { command: ${JSON.stringify(script.command)}, env: {}, cwd: "." }
    const engine = new Engine(launch, place, { warn() {}, error() {} })
    const ask = (name) => engine.call("tools/call", { name }, { limitMs: 60000 })
    ask("memory_get").then(() => ask("memory_status"))
    setTimeout(() => undefined, 800)`
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "ignore" })
  const code = await new Promise((resolve) => child.on("exit", resolve))
  assert.equal(code, 0)
  await until(() => script.entries.some((entry) => entry.end))
})
