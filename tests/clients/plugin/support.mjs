// What the tests share: a scripted engine, a client that records, and an installed plugin.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync } from "node:fs"
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, afterEach } from "node:test"
import { fileURLToPath, pathToFileURL } from "node:url"
import assert from "node:assert/strict"

const HERE = dirname(fileURLToPath(import.meta.url))
export const SOURCE = join(HERE, "..", "..", "..", "integrations", "opencode")
const FAKE_ENGINE = join(HERE, "fake_engine.mjs")

const unhandled = []
process.on("unhandledRejection", (error) => unhandled.push(error))
process.on("uncaughtException", (error) => unhandled.push(error))

// The plugin keeps no process alive, so the tests have to.
const alive = setInterval(() => undefined, 1000)
after(() => clearInterval(alive))

const folders = []
const open = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
  await pause(20)
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  assert.deepEqual(unhandled.splice(0), [], "nothing may escape as an unhandled error")
})

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Ask again until the answer is good, and return it. */
export async function until(ask, isGood = Boolean) {
  const end = Date.now() + 20_000
  while (Date.now() < end) {
    const answer = await ask()
    if (isGood(answer)) return answer
    await pause(10)
  }
  assert.fail(`still not so: ${ask}`)
}

export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), "memlines-plugin-"))
  folders.push(folder)
  return folder
}

/** Do something at the end of the test. */
export const closing = (work) => void open.push(work)

/** A plan for the fake engine, and what it has seen. */
export class Script {
  constructor(answers = {}, more = {}) {
    this.file = join(temporaryFolder(), "plan.json")
    writeFileSync(this.file, JSON.stringify({ answers, ...more }))
    this.command = [process.execPath, FAKE_ENGINE, this.file]
  }

  /** Answer otherwise from now on. */
  change(answers) {
    writeFileSync(`${this.file}.new`, JSON.stringify({ answers }))
    renameSync(`${this.file}.new`, this.file)
  }

  get entries() {
    const file = `${this.file}.seen`
    if (!existsSync(file)) return []
    return readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line))
  }

  seen(method) {
    return this.entries.filter((entry) => entry.method === method)
  }

  params(method) {
    return this.seen(method).map((entry) => entry.params)
  }

  get starts() {
    return this.entries.filter((entry) => entry.start)
  }
}

/** OpenCode's client as far as the plugin uses it. */
export class FakeClient {
  logged = []
  toasts = []
  calls = []
  sessions = {}
  messages = {}
  reply = async () => "{}"

  app = { log: async ({ body }) => void this.logged.push(body) }
  put = (level, message) => this.logged.push({ level, message })
  tui = { showToast: async ({ body }) => (this.toasts.push(body), { data: true }) }
  session = {
    get: async ({ path }) => this.#called("get", path, { data: this.sessions[path.id] ?? { id: path.id } }),
    messages: async ({ path, query }) => {
      const all = this.messages[path.id]
      return this.#called("messages", { ...path, ...query }, all ? { data: all } : { error: "not found" })
    },
    create: async ({ body }) => this.#called("create", body, { data: { id: "ses_own" } }),
    prompt: async ({ path, body }) => {
      this.#called("prompt", { ...path, ...body })
      return { data: { parts: [{ type: "text", text: await this.reply() }] } }
    },
    abort: async ({ path }) => this.#called("abort", path, { data: true }),
    delete: async ({ path }) => this.#called("delete", path, { data: true }),
  }

  #called(name, given, answer) {
    this.calls.push({ name, ...given })
    return answer
  }
}

let counter = 0

/** Copy the plugin as the installer does, and load it: `{hooks, client, script, …}`. */
export async function load({ answers, options, client = new FakeClient(), directory, script } = {}) {
  const plan = script ?? new Script(answers)
  const installed = install(plan)
  const place = directory ?? temporaryFolder()
  const { server } = await import(`${pathToFileURL(join(SOURCE, "memlines", "plugin.js"))}`)
  const folder = pathToFileURL(`${join(installed, "memlines")}/`)
  const hooks = await server({ client, directory: place, worktree: place }, options, folder)
  open.push(async () => hooks.dispose?.())
  return { hooks, client, script: plan, directory: place, id: `ses_${++counter}` }
}

/** Lay out the files as the installer does. */
export function install(plan, command = { command: plan.command, env: { FROM_COMMAND_JSON: "yes" } }) {
  const folder = temporaryFolder()
  mkdirSync(join(folder, "memlines"))
  mkdirSync(join(folder, "plugins"))
  for (const name of readdirSync(join(SOURCE, "memlines"))) {
    copyFileSync(join(SOURCE, "memlines", name), join(folder, "memlines", name))
  }
  copyFileSync(join(SOURCE, "plugins", "memlines.js"), join(folder, "plugins", "memlines.js"))
  if (command) writeFileSync(join(folder, "memlines", "command.json"), JSON.stringify(command))
  return folder
}

/** Tell the plugin of an event. */
export const tell = (hooks, type, properties) => hooks.event({ event: { id: "evt", type, properties } })

/** Start a session; if it is one of a person, wait until the engine has begun it. */
export async function startSession({ hooks, id }, more = {}) {
  await tell(hooks, "session.created", { sessionID: id, info: { id, ...more } })
  if (more.parentID) return
  await hooks.tool.memory_recall.execute({}, {}) // asked later, so answered later
  await pause(10)
}

/** Fail if the work needs more than a moment: it may not wait for anything outside. */
export async function atOnce(work) {
  const late = Symbol("late")
  const value = await Promise.race([work, pause(200).then(() => late)])
  assert.notEqual(value, late, "it waited")
  return value
}

/** Send a message of the user through the hook, and return its parts. */
export async function say({ hooks, id }, text, messageID = "msg_1") {
  const parts = [{ id: "prt_1", sessionID: id, messageID, type: "text", text }]
  const message = { id: messageID, role: "user", model: { providerID: "big", modelID: "model" } }
  await hooks["chat.message"]({ sessionID: id }, { message, parts })
  return parts
}

/** The system prompt of a model call, after the hook. */
export async function systemPrompt({ hooks, id }, first = "You are opencode\n<env>") {
  const system = [first]
  await hooks["experimental.chat.system.transform"]({ sessionID: id, model: {} }, { system })
  return system
}

/** A message as OpenCode stores it. */
export function stored(id, role, text, more = {}) {
  return {
    info: { id, role, time: { created: 1 }, agent: "build", ...more },
    parts: [
      { id: "prt_1", type: "text", text },
      { id: "prt_2", type: "text", text: "put in by a program", synthetic: true },
      { id: "prt_3", type: "tool", tool: "read", state: { output: "much" } },
    ],
  }
}
