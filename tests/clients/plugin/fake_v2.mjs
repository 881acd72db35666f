// OpenCode 2 as its published types describe it, strict where the real one only logs: what does not fit throws.
// It keeps sessions and their messages, and does what a user does: prompts, model calls, compactions, ends.
import assert from "node:assert/strict"

const DOMAINS =
  "agent aisdk command generate integration mcp model permission plugin provider reference rpc shell skill" +
  " storage vcs websearch worktree"
const SESSION_HOOKS = ["prompt", "context", "compaction", "generate", "title", "model.request", "retry"]
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/

/** A message of a model call: its fields are readonly, and the plugin puts another in its place. */
class Message {
  constructor(fields) {
    Object.assign(this, fields, { content: Object.freeze(fields.content.map(Object.freeze)) })
    Object.freeze(this)
  }
}

/** An object that only has the fields given, of which those named may be changed. */
function event(fields, ...mutable) {
  for (const name of Object.keys(fields)) {
    Object.defineProperty(fields, name, { writable: mutable.includes(name) })
  }
  return Object.preventExtensions(fields)
}

const only = (given, ...names) => {
  const unknown = Object.keys(given).filter((name) => !names.includes(name))
  assert.deepEqual(unknown, [], "fields that OpenCode does not know")
}
const copyOf = (value) => JSON.parse(JSON.stringify(value))

/** An object that has what it has, as one of a class, and nothing else that somebody might ask for. */
const closed = (what, fields) =>
  new Proxy(Object.freeze(Object.create(fields)), {
    get: (target, name) => {
      if (name in target || typeof name === "symbol" || name === "then") return target[name]
      throw new TypeError(`OpenCode 2 has no ${what}.${String(name)}`)
    },
  })

function checkTool(tool) {
  only(tool, "name", "description", "input", "output", "options", "execute")
  assert.match(tool.name, TOOL_NAME)
  assert.equal(typeof tool.description, "string")
  assert.equal(tool.input.type, "object", "the input is a JSON Schema of an object")
  assert.deepEqual(copyOf(tool.input), tool.input)
  only(tool.options ?? {}, "namespace", "permission", "codemode", "pinned")
  assert.equal(typeof tool.execute, "function")
}

function checkPart(part, ...more) {
  only(part, "type", "text", "cache", "metadata", ...more)
  assert.equal(part.type, "text")
  assert.ok(typeof part.text === "string" && part.text)
}

export class OpenCode2 {
  sessions = {}
  stored = {}
  /** What would have failed a session: hooks and tools that threw. */
  defects = []
  admitted = []
  calls = []
  #hooks = new Map()
  #transforms = []
  #streams = new Set()
  #cleanup
  #counter = 0

  constructor(directory, options = {}) {
    this.directory = directory
    this.options = options
    this.ctx = closed("ctx", {
      app: { name: "opencode", version: "2.0.32", channel: "latest" },
      location: event({ directory, project: { id: "prj_1", directory, canonical: directory } }),
      options: Object.freeze(options),
      tool: closed("tool", { transform: (callback) => this.#transform(callback) }),
      session: closed("session", {
        hook: async (name, callback) => this.#register(name, callback),
        get: async (given) => this.#asked("get", given, this.sessions[given.sessionID]),
        context: async (given) => this.#asked("context", given, this.stored[given.sessionID]),
        synthetic: async (given) => this.#synthetic(given),
      }),
      event: closed("event", { subscribe: (given) => this.#subscribe(given) }),
      ...Object.fromEntries(DOMAINS.split(" ").map((name) => [name, closed(name, {})])),
    })
  }

  /** Load a plugin as OpenCode does: of its default export it takes the id and `setup`. */
  async load({ default: definition }) {
    assert.equal(typeof definition.id, "string")
    assert.equal(typeof definition.setup, "function")
    const { id, setup } = definition
    this.#cleanup = await { id, setup }.setup(this.ctx)
    assert.ok(this.#cleanup === undefined || typeof this.#cleanup === "function")
  }

  async unload() {
    await this.#cleanup?.()
    this.#cleanup = undefined
    this.#hooks.clear()
    this.#transforms = []
    this.breakStreams()
  }

  /** End the streams of events, as a server that restarts does. */
  breakStreams() {
    for (const close of [...this.#streams]) close()
  }

  get subscriptions() {
    return this.#streams.size
  }

  /** The tools that the model sees under their own names, after every transform was run again. */
  get tools() {
    const tools = {}
    const add = (tool) => (checkTool(tool), (tools[tool.name] = tool))
    const editor = closed("editor", { add, list: () => Object.values(tools), get: (id) => tools[id] })
    for (const callback of this.#transforms) assert.equal(callback(editor), undefined, "transforms are synchronous")
    return Object.fromEntries(Object.entries(tools).filter(([, tool]) => tool.options?.codemode === false))
  }

  /** Let the model call a tool, and return what it reads and what programs get. */
  async call(name, input, sessionID = "ses_1", signal = new AbortController().signal) {
    const context = event({ sessionID, agent: "build", messageID: "msg_a", id: "call_1", signal, progress: async () => {} })
    const result = await this.#guard(`the tool ${name}`, () => this.tools[name].execute(input, context))
    only(result, "content", "output", "metadata")
    assert.ok(typeof result.content === "string" && result.content)
    assert.deepEqual(copyOf(result.metadata), result.metadata)
    return result
  }

  /** Begin a session of a person, unless more is said. */
  begin({ id = `ses_${++this.#counter}`, directory = this.directory, parentID, isToldOf = true } = {}) {
    this.sessions[id] = { id, projectID: "prj_1", location: { directory }, ...(parentID ? { parentID } : {}) }
    this.stored[id] ??= []
    if (isToldOf) this.publish("session.created", { sessionID: id, projectID: "prj_1", location: { directory } })
    return id
  }

  /** Admit a message of the user: the hooks first, and then what they made of it is stored. */
  async prompt(sessionID, text, messageID = `msg_${++this.#counter}`) {
    const prompt = event({ sessionID, messageID, prompt: { text }, metadata: undefined, delivery: "steer" }, "metadata")
    await this.#run("prompt", prompt)
    this.store(sessionID, { id: messageID, type: "user", text: prompt.prompt.text })
    return messageID
  }

  /** @returns what is sent to the model: `{system, messages}` */
  async modelCall(sessionID) {
    const call = this.#request(sessionID)
    await this.#run("context", call)
    call.system.forEach((part) => checkPart(part))
    for (const message of call.messages) {
      only(message, "id", "role", "content", "metadata", "native")
      message.content.forEach((part) => checkPart(part, "providerMetadata"))
    }
    return copyOf({ system: call.system.map(({ text }) => text), messages: call.messages })
  }

  /** Sum a session up: `isToldOf` and `isHooked` say which of the two ways OpenCode takes. */
  async compact(sessionID, { isToldOf = true, isHooked = true } = {}) {
    if (isToldOf) this.publish("session.compaction.started", { sessionID, reason: "manual", recent: "" })
    const call = this.#request(sessionID, { result: undefined })
    if (isHooked) await this.#run("compaction", call)
    assert.equal(call.result, undefined, "the summary is the model's")
    return call.system.slice(1).map((part) => (checkPart(part), part.text))
  }

  endCompaction(sessionID) {
    this.stored[sessionID] = [{ id: "msg_sum", type: "compaction", status: "completed", summary: "…", recent: "" }]
    this.publish("session.compaction.ended", { sessionID, reason: "manual", text: "…", recent: "" })
  }

  store(sessionID, message) {
    this.stored[sessionID].push({ time: { created: 1 }, ...message })
  }

  /** Tell every listener; events of all sessions on the machine come, wherever they are. */
  publish(type, data, location) {
    const told = { id: `evt_${++this.#counter}`, created: 1, type, data, ...(location ? { location } : {}) }
    this.#streams.forEach((close) => close.push(copyOf(told)))
  }

  /** Give a hook what it is not made for. */
  async hooked(name, given) {
    for (const callback of this.#hooks.get(name) ?? []) await callback(given)
  }

  #transform(callback) {
    assert.equal(typeof callback, "function")
    this.#transforms.push(callback)
    return Promise.resolve({ dispose: async () => undefined })
  }

  #register(name, callback) {
    assert.ok(SESSION_HOOKS.includes(name), `there is no hook ${name}`)
    assert.equal(typeof callback, "function")
    this.#hooks.set(name, [...(this.#hooks.get(name) ?? []), callback])
    return { dispose: async () => undefined }
  }

  #asked(name, given, answer) {
    only(given, "sessionID")
    this.calls.push({ name, ...given })
    if (!answer) throw new Error(`Session not found: ${given.sessionID}`)
    return copyOf(answer)
  }

  #synthetic(given) {
    only(given, "sessionID", "text", "description", "metadata", "delivery", "resume")
    assert.equal(typeof given.text, "string")
    this.admitted.push(copyOf(given))
    this.store(given.sessionID, { id: `msg_${++this.#counter}`, type: "synthetic", text: given.text })
  }

  #subscribe({ signal } = {}) {
    const waiting = []
    let wake = () => undefined
    const close = () => (this.#streams.delete(close), wake())
    close.push = (told) => (waiting.push(told), wake())
    this.#streams.add(close)
    signal?.addEventListener("abort", close, { once: true })
    const streams = this.#streams
    return (async function* () {
      while (streams.has(close)) {
        while (waiting.length) yield waiting.shift()
        await new Promise((resolve) => (wake = resolve))
      }
    })()
  }

  #request(sessionID, more = {}) {
    const messages = this.stored[sessionID].flatMap(({ id, type, text, content = [] }) => {
      if (type === "user") return [new Message({ id, role: "user", content: [{ type: "text", text }] })]
      const texts = content.filter((part) => part.type === "text").map(({ text }) => ({ type: "text", text }))
      return type === "assistant" ? [new Message({ id, role: "assistant", content: texts })] : []
    })
    const system = [{ type: "text", text: "You are opencode" }]
    const call = { sessionID, agent: "build", model: { providerID: "p", id: "m" }, system, messages, tools: {}, options: {} }
    return event({ ...call, ...more }, "system", "messages", "tools", "options", "result")
  }

  async #run(name, given) {
    for (const callback of this.#hooks.get(name) ?? []) await this.#guard(`the hook ${name}`, () => callback(given))
  }

  async #guard(what, work) {
    try {
      return await work()
    } catch (error) {
      this.defects.push(`${what}: ${error}`)
      throw error
    }
  }
}
