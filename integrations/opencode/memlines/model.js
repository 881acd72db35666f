// OpenCode's own model, asked in a session that the user does not see and that is removed again.
import { countdown, messageOf, within } from "./timing.js"

const LIMIT_MS = 5_000

/** The title of the session in which OpenCode's own model is asked; it is no conversation of the user's. */
export const OWN_SESSION_TITLE = "memlines: what does this message ask for?"

/** @typedef {{providerID: string, modelID: string}} ModelName */

export class OpencodeModel {
  /** @type {Map<string, string>} what the model is told in each session of our own */
  #instructions = new Map()
  /** @type {ModelName | undefined} */
  #small
  #client
  #background
  #log

  /**
   * @param {any} client OpenCode's client
   * @param {import("./timing.js").Background} background
   * @param {import("./log.js").Log} log
   */
  constructor(client, background, log) {
    this.#client = client
    this.#background = background
    this.#log = log
  }

  /** @param {unknown} name as opencode.json has it: provider/model */
  useSmall(name) {
    const [, providerID, modelID] = /^([^/]+)\/(.+)$/.exec(String(name)) ?? []
    this.#small = modelID ? { providerID, modelID } : undefined
  }

  /**
   * The whole system prompt of a session of our own: what a coding agent is told would be in the way there.
   * @param {string} sessionID
   * @returns {string | undefined}
   */
  instructionsOf(sessionID) {
    return this.#instructions.get(sessionID)
  }

  /**
   * What the model replies, or nothing if it does not in time.
   * @param {{instructions: string, prompt: string}} request
   * @param {string} parentID the session that it is about: OpenCode does not list those below another
   * @param {ModelName | undefined} model the one to ask if there is no small one
   * @returns {Promise<string>}
   */
  async reply(request, parentID, model) {
    try {
      return await within(this.#ask(request, parentID, model), LIMIT_MS, "the reply")
    } catch (error) {
      this.#log.warn(`the model of OpenCode was of no help: ${messageOf(error)}`)
      return ""
    }
  }

  /**
   * @param {{instructions: string, prompt: string}} request
   * @param {string} parentID
   * @param {ModelName | undefined} model
   */
  async #ask({ instructions, prompt }, parentID, model) {
    const left = countdown(LIMIT_MS)
    const { session } = this.#client
    const { data } = await session.create({ body: { parentID, title: OWN_SESSION_TITLE } })
    const id = String(data.id)
    this.#instructions.set(id, instructions)
    try {
      const parts = [{ type: "text", text: prompt }]
      const body = { model: this.#small ?? model, system: instructions, tools: { "*": false }, parts }
      const reply = await within(session.prompt({ path: { id }, body }), left(), "the reply")
      return textOf(reply.data?.parts ?? [])
    } finally {
      this.#remove(id)
    }
  }

  /** @param {string} id */
  #remove(id) {
    this.#instructions.delete(id)
    this.#background.run("ending a session of our own", async () => {
      await this.#client.session.abort({ path: { id } })
      await this.#client.session.delete({ path: { id } })
    })
  }
}

/** @param {{type: string, text?: string}[]} parts */
function textOf(parts) {
  return parts.flatMap((part) => (part.type === "text" && part.text ? [part.text] : [])).join("\n")
}
