// OpenCode 2: tools, hooks and events. A hook that throws would fail what it intercepts, so none does.
import { COMMAND_LIMIT_MS, isSwitch, memoryCommand, OWN_COMMANDS } from "./command.js"
import { commandIn } from "./conversation.js"
import { Log } from "./log.js"
import { LruMap } from "./lru.js"
import { Memory, QUICK_MS, SLACK_MS } from "./memory.js"
import { RECALL_WAIT_MS } from "./recall.js"
import { BOOTSTRAP_WAIT_MS } from "./sessions.js"
import { messageOf, pause } from "./timing.js"
import { call } from "./tools.js"
import { COMPACTING_LIMIT_MS } from "./turns.js"

const MOST_RESULTS = 200
const SUBSCRIBE_AGAIN_MS = 1_000
const SAME_COMPACTION_MS = 60_000

/** `/memory` where our commands are not installed: then OpenCode takes it for a message. */
const TYPED_COMMAND = /^\/memory(?:\s([^]*))?$/

/** @typedef {import("./sessions.js").Session} Session */

/**
 * @param {any} ctx the context of OpenCode 2
 * @param {any} options what the user set; its own entry may know more than OpenCode does
 * @param {URL} folder where tools.json and command.json are
 * @returns {Promise<(() => Promise<void>) | undefined>} the cleanup
 */
export async function setup(ctx, options = ctx?.options, folder = new URL("./", import.meta.url)) {
  // OpenCode 1.18 calls this too, with the beginnings of a context. There `server` does the work.
  if (!ctx?.location || !ctx.session || !ctx.tool) return undefined
  const log = new Log((_, message) => console.error(`memlines: ${message}`)) // OpenCode's log gets it
  /** @type {Plugin | undefined} */
  let plugin
  try {
    plugin = new Plugin(ctx, options, folder, log)
    await plugin.register()
  } catch (error) {
    log.error(`the memory is not there: ${messageOf(error)}`)
  }
  return async () => plugin?.dispose()
}

class Plugin {
  /** @type {LruMap<string, Promise<string>>} what came of /memory, by the message that asked for it */
  #results = new LruMap(MOST_RESULTS)
  /** @type {LruMap<string, {survives: Promise<string>, begun: number}>} the compactions under way, by the session */
  #compactions = new LruMap(MOST_RESULTS)
  #ctx
  #memory

  /**
   * @param {any} ctx
   * @param {any} options
   * @param {URL} folder
   * @param {Log} log
   */
  constructor(ctx, options, folder, log) {
    const { directory, project } = ctx.location
    const place = { directory, worktree: project?.directory ?? directory }
    this.#ctx = ctx
    this.#memory = new Memory(new Host(ctx, directory), place, options, folder, log)
  }

  async register() {
    const ctx = this.#ctx
    const memory = this.#memory
    if (!memory.claim()) return
    await ctx.tool.transform((/** @type {any} */ editor) => {
      for (const tool of memory.descriptions) editor.add(toolFor(tool, memory.engine))
    })
    const contextMs = COMMAND_LIMIT_MS + BOOTSTRAP_WAIT_MS + RECALL_WAIT_MS + SLACK_MS
    const compactionMs = COMPACTING_LIMIT_MS + SLACK_MS
    await ctx.session.hook("prompt", memory.hook("prompt", QUICK_MS, (event) => this.#prompt(event)))
    await ctx.session.hook("context", memory.hook("context", contextMs, (event) => this.#context(event)))
    await ctx.session.hook("compaction", memory.hook("compaction", compactionMs, (event) => this.#compaction(event)))
    this.#listen(memory.ended)
  }

  dispose() {
    return this.#memory.dispose()
  }

  /**
   * Hear events until the end; a stream that breaks off is asked for again.
   * @param {AbortSignal} signal
   */
  async #listen(signal) {
    while (!signal.aborted) {
      try {
        for await (const event of this.#ctx.event.subscribe({ signal })) this.#hear(event)
      } catch (error) {
        this.#memory.log.warn(`the events: ${messageOf(error)}`)
      }
      if (!signal.aborted) await pause(SUBSCRIBE_AGAIN_MS)
    }
  }

  /** @param {any} event */
  #hear(event) {
    try {
      this.#event(event)
    } catch (error) {
      this.#memory.log.warn(`the event ${event?.type}: ${messageOf(error)}`)
    }
  }

  /** @param {{type: string, data: any, location?: {directory: string}}} event of any session on this machine */
  #event({ type, data, location }) {
    const memory = this.#memory
    const { sessions, directory } = memory
    const where = data.location ?? location
    if (where && where.directory !== directory && type !== "session.moved") return
    const id = data.sessionID
    switch (type) {
      case "session.created":
        return sessions.created(id, data.parentID ? false : undefined)
      case "session.deleted":
      case "session.moved":
        return sessions.forget(id)
      case "session.execution.succeeded":
      case "session.execution.failed":
      case "session.execution.interrupted":
        return memory.turnEnded(id)
      case "session.compaction.started":
        return memory.background.run("a compaction", () => this.#survives(sessions.open(id)))
      case "session.compaction.ended":
        sessions.beginAgain(sessions.open(id))
        return this.#compactions.delete(id)
      case "session.compaction.failed":
        return this.#compactions.delete(id)
      case "filesystem.changed":
        return memory.fileChanged(data.file)
    }
  }

  /**
   * Ask what is known about a message, and carry out /memory. Nothing is written into the prompt: it would be
   * stored, and shown to the user.
   * @param {{sessionID: string, messageID: string, prompt: {text: string}}} event
   */
  async #prompt({ sessionID, messageID, prompt: { text } }) {
    const { sessions, recall, options, engine, turns } = this.#memory
    const session = sessions.open(sessionID)
    sessions.begin(session)
    const typed = TYPED_COMMAND.exec(text)
    const command = typed ? { name: "memory", words: typed[1] ?? "" } : commandIn(text)
    if (command?.name !== "memory") {
      if (options.recall && !OWN_COMMANDS.has(command?.name ?? "")) recall.ask(session, messageID, text)
      return
    }
    if (this.#results.has(messageID)) return
    const result = memoryCommand(engine, session, command.words, () => turns.whole(session))
    this.#results.set(messageID, result)
    if (isSwitch(command.words)) result.then(() => sessions.beginAllAgain())
  }

  /**
   * What a session starts with goes into the system prompt, and what is known about a message beside it. Both
   * are for this model call: OpenCode does not keep them.
   * @param {{sessionID: string, system: object[], messages: {id?: string, role: string, content: object[]}[]}} event
   */
  async #context({ sessionID, system, messages }) {
    const { sessions, recall, options } = this.#memory
    const asked = messages.findLast(({ role }) => role === "user")
    const [context] = await Promise.all([
      options.bootstrap ? sessions.context(sessions.open(sessionID)) : "",
      recall.settled(asked?.id ?? ""),
    ])
    if (context) system.push(textPart(context))
    for (const [index, message] of messages.entries()) {
      const { id = "", content } = message
      const beside = (await this.#results.get(id)) ?? recall.beside(id)
      if (beside) messages[index] = { ...message, content: [...content, textPart(beside)] }
    }
  }

  /** @param {{sessionID: string, system: object[]}} event */
  async #compaction({ sessionID, system }) {
    const survives = await this.#survives(this.#memory.sessions.open(sessionID))
    if (survives) system.push(textPart(survives))
  }

  /**
   * Have written down, once for a compaction, what should last. OpenCode says by an event that a compaction
   * begins, and calls the hook; not every version does both.
   * @param {Session} session
   * @returns {Promise<string>}
   */
  async #survives(session) {
    const { options, turns } = this.#memory
    if (!options.flush) return ""
    const current = this.#compactions.get(session.id)
    if (current && Date.now() - current.begun < SAME_COMPACTION_MS) return current.survives
    const survives = turns.compacting(session)
    this.#compactions.set(session.id, { survives, begun: Date.now() })
    return survives
  }
}

class Host {
  generation = 2
  #ctx
  #directory

  /**
   * @param {any} ctx
   * @param {string} directory
   */
  constructor(ctx, directory) {
    this.#ctx = ctx
    this.#directory = directory
  }

  /**
   * @param {string} id
   * @param {number} most
   * @returns {Promise<import("./memory.js").Spoken[]>}
   */
  async messages(id, most) {
    const stored = await this.#ctx.session.context({ sessionID: id })
    return stored.map(spoken).slice(-most)
  }

  /**
   * Sessions of other places are none of ours, nor are those of subagents.
   * @param {string} id
   */
  async isMain(id) {
    const { parentID, location } = await this.#ctx.session.get({ sessionID: id })
    return !parentID && location.directory === this.#directory
  }

  /**
   * There are no toasts; a synthetic message shows in the session, and does not make the model go on.
   * @param {string} id
   * @param {string} message
   */
  tell(id, message) {
    return this.#ctx.session.synthetic({ sessionID: id, text: message, description: message, resume: false })
  }
}

/**
 * @param {any} message as OpenCode stores it
 * @returns {import("./memory.js").Spoken}
 */
function spoken({ id, type, time, text, content }) {
  const parts = type === "user" ? [{ type: "text", text }] : type === "assistant" ? content : []
  const texts = parts.flatMap((/** @type {any} */ part) => (part.type === "text" ? [part.text] : []))
  return { id, role: type, time, text: texts.join("\n") }
}

/**
 * @param {import("./installed.js").ToolDescription} tool
 * @param {import("./engine.js").Engine} engine
 */
function toolFor(tool, engine) {
  return {
    name: tool.name,
    description: tool.description,
    input: tool.parameters,
    options: { codemode: false }, // otherwise the model would have to write code to call it
    execute: async (/** @type {unknown} */ input, /** @type {import("./tools.js").Caller} */ caller) => {
      const { output, metadata } = await call(tool, engine, input, caller ?? {})
      return { content: output || "The memory answered nothing.", metadata }
    },
  }
}

/** @param {string} text */
function textPart(text) {
  return { type: "text", text }
}
