// Memlines in OpenCode: puts the hooks together. Every hook has a time limit, and none of them throws.
import { COMMAND_LIMIT_MS, isSwitch, memoryCommand, OWN_COMMANDS } from "./command.js"
import { writtenText } from "./conversation.js"
import { Engine } from "./engine.js"
import { FileChanges } from "./files.js"
import { installedCommand, installedTools } from "./installed.js"
import { Log } from "./log.js"
import { OpencodeModel } from "./model.js"
import { readOptions } from "./options.js"
import { Recall, RECALL_WAIT_MS } from "./recall.js"
import { claim, release } from "./registry.js"
import { BOOTSTRAP_WAIT_MS, Sessions } from "./sessions.js"
import { Suggestions } from "./suggestions.js"
import { Background, messageOf, within } from "./timing.js"
import { toolsFor } from "./tools.js"
import { COMPACTING_LIMIT_MS, Turns } from "./turns.js"
import { newProse } from "./writing.js"

const SLACK_MS = 100
const QUICK_MS = 500
const LAST_WORK_MS = 3_000

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
  const log = new Log(input.client)
  try {
    return new Plugin(input, given, folder, log).hooks()
  } catch (error) {
    log.error(`the memory is not there: ${messageOf(error)}`)
    return {}
  }
}

export default { id: "memlines", server }

class Plugin {
  #retired = false

  /**
   * @param {PluginInput} input
   * @param {unknown} given
   * @param {URL} folder
   * @param {Log} log
   */
  constructor({ client, directory, worktree }, given, folder, log) {
    const { options, isExplicit, complaints } = readOptions(given)
    complaints.forEach((complaint) => log.warn(complaint))
    this.options = options
    this.isExplicit = isExplicit
    this.log = log
    this.directory = directory
    this.descriptions = installedTools(folder).filter((tool) => options.maintenance || !tool.maintenance)
    this.background = new Background(log)
    this.engine = new Engine(launch(options, folder, directory), { directory, worktree }, log)
    this.sessions = new Sessions(client, this.engine, this.background)
    this.recall = new Recall(this.engine, this.sessions, this.background)
    this.turns = new Turns(client, this.engine, this.sessions, directory)
    this.files = new FileChanges(directory, this.engine, this.background)
    this.model = new OpencodeModel(client, this.background, log)
    const model = options.intent === "opencode" ? this.model : undefined
    this.suggestions = new Suggestions(client, this.engine, this.sessions, this.background, model)
  }

  /** @returns {Hooks} */
  hooks() {
    if (!claim(this.directory, this)) return {}
    const schemas = new Map(this.descriptions.map(({ name, parameters }) => [name, parameters]))
    return {
      tool: toolsFor(this.descriptions, this.engine),
      // OpenCode would call every argument required.
      "tool.definition": this.#hook("tool.definition", QUICK_MS, async ({ toolID }, output) => {
        if (schemas.has(toolID)) output.jsonSchema = schemas.get(toolID)
      }),
      config: this.#hook("config", QUICK_MS, async (config) => this.model.useSmall(config.small_model)),
      event: this.#hook("event", QUICK_MS, async ({ event }) => this.#event(event.type, event.properties)),
      "chat.message": this.#hook("chat.message", RECALL_WAIT_MS + SLACK_MS, this.#message),
      "experimental.chat.messages.transform": this.#hook("messages", QUICK_MS, async (_, { messages }) =>
        this.recall.besideMessages(messages),
      ),
      "experimental.chat.system.transform": this.#hook("system", BOOTSTRAP_WAIT_MS + SLACK_MS, this.#system),
      "tool.execute.before": this.#hook("tool.execute.before", QUICK_MS, this.#beforeTool),
      "command.execute.before": this.#hook("command", COMMAND_LIMIT_MS + SLACK_MS, this.#command),
      "experimental.session.compacting": this.#hook("compacting", COMPACTING_LIMIT_MS + SLACK_MS, this.#compacting),
      dispose: () => this.#dispose(),
    }
  }

  /** Another instance has taken over the directory. */
  retire() {
    this.#retired = true
    this.engine.stop()
  }

  async #dispose() {
    release(this.directory, this)
    await this.background.settled(LAST_WORK_MS)
    this.engine.stop()
  }

  /**
   * @param {string} name
   * @param {number} limitMs
   * @param {(input: any, output: any) => Promise<unknown>} work
   */
  #hook(name, limitMs, work) {
    return async (/** @type {any} */ input, /** @type {any} */ output) => {
      if (this.#retired) return
      try {
        await within(work.call(this, input, output), limitMs, `the hook ${name}`)
      } catch (error) {
        this.log.warn(`${name}: ${messageOf(error)}`)
      }
    }
  }

  /**
   * @param {string} type
   * @param {any} properties
   */
  #event(type, properties) {
    const { sessions, options } = this
    switch (type) {
      case "session.created":
        return sessions.created(properties.info)
      case "session.deleted":
        return sessions.forget(properties.info.id)
      case "session.compacted":
        return sessions.beginAgain(sessions.open(properties.sessionID))
      case "session.idle":
        return options.snapshots && this.#turnEnded(sessions.open(properties.sessionID))
      case "file.edited":
      case "file.watcher.updated":
        return options.files && this.files.note(properties.file)
    }
  }

  /** @param {import("./sessions.js").Session} session */
  #turnEnded(session) {
    this.background.run("the end of a turn", () => this.turns.ended(session))
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
      await this.recall.besideMessage(session, message.id, parts, isFirst)
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
    parts.push(await memoryCommand(this.engine, session, words, () => this.turns.whole(session)))
    if (isSwitch(words)) this.sessions.beginAllAgain()
  }

  /**
   * @param {{sessionID: string}} input
   * @param {{context: string[]}} output
   */
  async #compacting({ sessionID }, { context }) {
    if (!this.options.flush) return
    const survives = await this.turns.compacting(this.sessions.open(sessionID))
    if (survives) context.push(survives)
  }

  get #suggests() {
    return this.options.toasts && this.options.intent !== "off"
  }
}

/**
 * @param {import("./options.js").Options} options
 * @param {URL} folder
 * @param {string} cwd
 * @returns {import("./process.js").Launch}
 */
function launch(options, folder, cwd) {
  const { command, env } = options.command.length ? { command: options.command, env: {} } : installedCommand(folder)
  const workspace = options.workspace && command.length ? ["--workspace", options.workspace] : []
  return { command: [...command, ...workspace], env, cwd }
}
