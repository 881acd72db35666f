// OpenCode 1: the hooks. Every hook has a time limit, and none of them throws.
import { COMMAND_LIMIT_MS, isSwitch, memoryCommand, OWN_COMMANDS } from "./command.js"
import { writtenText } from "./conversation.js"
import { Log } from "./log.js"
import { Memory, QUICK_MS, SLACK_MS } from "./memory.js"
import { OpencodeModel, OWN_SESSION_TITLE } from "./model.js"
import { RECALL_WAIT_MS } from "./recall.js"
import { BOOTSTRAP_WAIT_MS } from "./sessions.js"
import { Suggestions } from "./suggestions.js"
import { messageOf } from "./timing.js"
import { toolsFor } from "./tools.js"
import { COMPACTING_LIMIT_MS } from "./turns.js"
import { newProse } from "./writing.js"

const TOAST_MS = 8_000

/** How the prompts of OpenCode's helpers begin: for titles, compactions and summaries. */
const HELPERS = [
  "You are a title generator",
  "You are a context summarization agent",
  "Summarize what was done in this conversation",
]

/**
 * @typedef {{client: any, directory: string, worktree: string}} PluginInput
 * @typedef {Record<string, any>} Hooks
 */

/**
 * @param {PluginInput} input
 * @param {unknown} given the options of opencode.json
 * @param {URL} folder where tools.json and command.json are
 * @returns {Promise<Hooks>}
 */
export async function server(input, given, folder = new URL("./", import.meta.url)) {
  const { client } = input
  const log = new Log((level, message) => client.app.log({ body: { service: "memlines", level, message } }))
  try {
    return new Plugin(input, given, folder, log).hooks()
  } catch (error) {
    log.error(`the memory is not there: ${messageOf(error)}`)
    return {}
  }
}

class Plugin {
  /**
   * @param {PluginInput} input
   * @param {unknown} given
   * @param {URL} folder
   * @param {Log} log
   */
  constructor({ client, directory, worktree }, given, folder, log) {
    const host = new Host(client)
    this.memory = new Memory(host, { directory, worktree }, given, folder, log)
    const { engine, sessions, background, options } = this.memory
    this.options = options
    this.sessions = sessions
    this.model = new OpencodeModel(client, background, log)
    const model = options.intent === "opencode" ? this.model : undefined
    this.suggestions = new Suggestions(host, engine, sessions, background, model)
  }

  /** @returns {Hooks} */
  hooks() {
    const { memory } = this
    if (!memory.claim()) return {}
    const schemas = new Map(memory.descriptions.map(({ name, parameters }) => [name, parameters]))
    /** @type {(name: string, limitMs: number, work: (input: any, output: any) => Promise<unknown>) => Function} */
    const hook = (name, limitMs, work) => memory.hook(name, limitMs, work.bind(this))
    return {
      tool: toolsFor(memory.descriptions, memory.engine),
      // OpenCode would call every argument required.
      "tool.definition": hook("tool.definition", QUICK_MS, async ({ toolID }, output) => {
        if (schemas.has(toolID)) output.jsonSchema = schemas.get(toolID)
      }),
      config: hook("config", QUICK_MS, async (config) => this.model.useSmall(config.small_model)),
      event: hook("event", QUICK_MS, async ({ event }) => this.#event(event.type, event.properties)),
      "chat.message": hook("chat.message", RECALL_WAIT_MS + SLACK_MS, this.#message),
      "experimental.chat.messages.transform": hook("messages", QUICK_MS, async (_, { messages }) =>
        memory.recall.besideMessages(messages),
      ),
      "experimental.chat.system.transform": hook("system", BOOTSTRAP_WAIT_MS + SLACK_MS, this.#system),
      "tool.execute.before": hook("tool.execute.before", QUICK_MS, this.#beforeTool),
      "command.execute.before": hook("command", COMMAND_LIMIT_MS + SLACK_MS, this.#command),
      "experimental.session.compacting": hook("compacting", COMPACTING_LIMIT_MS + SLACK_MS, this.#compacting),
      dispose: () => memory.dispose(),
    }
  }

  /**
   * @param {string} type
   * @param {any} properties
   */
  #event(type, properties) {
    const { memory, sessions } = this
    switch (type) {
      case "session.created":
        return sessions.created(properties.info.id, isMain(properties.info))
      case "session.deleted":
        return sessions.forget(properties.info.id)
      case "session.compacted":
        return sessions.beginAgain(sessions.open(properties.sessionID))
      case "session.idle":
        return memory.turnEnded(properties.sessionID)
      case "file.edited":
      case "file.watcher.updated":
        return memory.fileChanged(properties.file)
    }
  }

  /**
   * @param {{sessionID: string}} input
   * @param {{message: {id: string, model?: import("./model.js").ModelName}, parts: any[]}} output
   */
  async #message({ sessionID }, { message, parts }) {
    const session = this.sessions.open(sessionID)
    const command = session.command
    session.command = undefined
    const isFirst = !session.messageID
    session.messageID = message.id
    this.sessions.begin(session)
    if (this.#suggests && !command) this.suggestions.forMessage(session, writtenText(parts), message.model)
    if (this.options.recall && !OWN_COMMANDS.has(command ?? "")) {
      await this.memory.recall.besideMessage(session, message.id, parts, isFirst)
    }
  }

  /**
   * @param {{sessionID?: string}} input
   * @param {{system: string[]}} output
   */
  async #system({ sessionID }, { system }) {
    if (!sessionID || HELPERS.some((start) => system[0]?.startsWith(start))) return
    const instructions = this.model.instructionsOf(sessionID)
    if (instructions) system.splice(0, system.length, instructions)
    if (instructions || !this.options.bootstrap) return
    const context = await this.sessions.context(this.sessions.open(sessionID))
    if (context) system.push(context)
  }

  /**
   * @param {{tool: string, sessionID: string}} input
   * @param {{args: unknown}} output
   */
  async #beforeTool({ tool, sessionID }, { args }) {
    if (this.#suggests) this.suggestions.forWriting(this.sessions.open(sessionID), newProse(tool, args))
  }

  /**
   * @param {{command: string, sessionID: string, arguments: string}} input
   * @param {{parts: object[]}} output
   */
  async #command({ command, sessionID, arguments: words }, { parts }) {
    const session = this.sessions.open(sessionID)
    session.command = command
    if (command !== "memory") return
    const { engine, turns } = this.memory
    const text = await memoryCommand(engine, session, words, () => turns.whole(session))
    parts.push({ type: "text", text, synthetic: true })
    if (isSwitch(words)) this.sessions.beginAllAgain()
  }

  /**
   * @param {{sessionID: string}} input
   * @param {{context: string[]}} output
   */
  async #compacting({ sessionID }, { context }) {
    if (!this.options.flush) return
    const survives = await this.memory.turns.compacting(this.sessions.open(sessionID))
    if (survives) context.push(survives)
  }

  get #suggests() {
    return this.options.toasts && this.options.intent !== "off"
  }
}

class Host {
  generation = 1
  #client

  /** @param {any} client OpenCode's client */
  constructor(client) {
    this.#client = client
  }

  /**
   * @param {string} id
   * @param {number} most
   * @returns {Promise<import("./memory.js").Spoken[]>}
   */
  async messages(id, most) {
    const { data, error } = await this.#client.session.messages({ path: { id }, query: { limit: most } })
    if (!Array.isArray(data)) throw new Error(`the messages cannot be read: ${JSON.stringify(error) ?? "no answer"}`)
    return data.slice(-most).map(({ info, parts }) => ({
      id: info.id,
      role: info.role,
      time: info.time,
      text: info.summary === true ? "" : writtenText(parts),
    }))
  }

  /** @param {string} id */
  async isMain(id) {
    const { data } = await this.#client.session.get({ path: { id } })
    return isMain(data ?? {})
  }

  /**
   * @param {string} _ the session, which a toast does not belong to
   * @param {string} message
   */
  tell(_, message) {
    return this.toast(message)
  }

  /** @param {string} message */
  toast(message) {
    const toast = { title: "Memory", message, variant: "info", duration: TOAST_MS }
    return this.#client.tui.showToast({ body: toast })
  }
}

/** @param {{parentID?: string, title?: string}} info of a session, as OpenCode tells it */
function isMain({ parentID, title }) {
  return !parentID && title !== OWN_SESSION_TITLE
}
