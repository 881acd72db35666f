// What a message or a written text asks for, and the suggestion that follows from it.
import { pause } from "./timing.js"

const LIMIT_MS = 15_000 // more than the engine takes itself
const COLD_WAIT_MS = 2_000 // a client that starts is busy; a suggestion is in no hurry
const LONGEST_TEXT = 4_000

/**
 * @typedef {import("./sessions.js").Session} Session
 * @typedef {{intent?: string, suggestion?: string | null}} Found
 */

export class Suggestions {
  #host
  #engine
  #sessions
  #background
  #model

  /**
   * @param {{toast: (message: string) => Promise<unknown>}} host
   * @param {import("./engine.js").Engine} engine
   * @param {import("./sessions.js").Sessions} sessions
   * @param {import("./timing.js").Background} background
   * @param {import("./model.js").OpencodeModel | undefined} model what is asked about messages; else the engine
   */
  constructor(host, engine, sessions, background, model) {
    this.#host = host
    this.#engine = engine
    this.#sessions = sessions
    this.#background = background
    this.#model = model
  }

  /**
   * @param {Session} session
   * @param {string} text
   * @param {import("./model.js").ModelName | undefined} modelName the one that the user talks with
   */
  forMessage(session, text, modelName) {
    this.#suggest(session, text, async (start) => {
      if (!this.#model) return this.#ask("intent/detect", { text: start })
      const request = await this.#ask("intent/request", { text: start })
      if (!request?.prompt) return undefined
      const reply = await this.#model.reply(request, session.id, modelName)
      return this.#ask("intent/parse", { text: start, reply })
    })
  }

  /**
   * @param {Session} session
   * @param {string} text what a tool is about to write
   */
  forWriting(session, text) {
    this.#suggest(session, text, async (start) => {
      const found = await this.#ask("intent/detect", { text: start })
      return found?.intent === "remember" ? found : undefined
    })
  }

  /**
   * Show what is found, at most once for a message of the user; nobody waits for it.
   * @param {Session} session
   * @param {string} text
   * @param {(start: string) => Promise<Found | undefined>} find
   */
  #suggest(session, text, find) {
    if (!text.trim()) return
    const { messageID } = session
    this.#background.run("what a text asks for", async () => {
      if (!this.#engine.isReady) await pause(COLD_WAIT_MS)
      if (!(await this.#sessions.isMain(session))) return
      const found = await find(text.slice(0, LONGEST_TEXT))
      if (!found?.suggestion || session.suggestedFor === messageID) return
      session.suggestedFor = messageID
      await this.#host.toast(found.suggestion)
    })
  }

  /**
   * @param {string} method
   * @param {object} params
   */
  #ask(method, params) {
    return this.#engine.call(method, params, { limitMs: LIMIT_MS })
  }
}
