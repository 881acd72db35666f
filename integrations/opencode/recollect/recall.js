// What the memory knows about a message that is about the past goes beside that message.
import { hiddenPart, writtenText } from "./conversation.js"
import { LruMap } from "./lru.js"
import { countdown } from "./timing.js"

/** How long a message may be held up. */
export const RECALL_WAIT_MS = 300

const COLD_LIMIT_MS = 8_000
const LONGEST_TEXT = 8_000
const MOST_MESSAGES = 200

export class Recall {
  /** @type {LruMap<string, string>} what is not part of its message, by the message */
  #beside = new LruMap(MOST_MESSAGES)
  #engine
  #sessions
  #background

  /**
   * @param {import("./engine.js").Engine} engine
   * @param {import("./sessions.js").Sessions} sessions
   * @param {import("./timing.js").Background} background
   */
  constructor(engine, sessions, background) {
    this.#engine = engine
    this.#sessions = sessions
    this.#background = background
  }

  /**
   * Put what is known beside the message. While the engine still starts, nobody waits for it. The first
   * message stays as it is: OpenCode makes the title of the session from it.
   * @param {import("./sessions.js").Session} session
   * @param {string} messageID
   * @param {import("./conversation.js").Part[]} parts
   * @param {boolean} isFirst
   */
  async besideMessage(session, messageID, parts, isFirst) {
    const text = writtenText(parts).slice(0, LONGEST_TEXT)
    if (!text.trim()) return
    if (!this.#engine.isReady) {
      this.#askFor(session, text, COLD_LIMIT_MS).then((context) => this.#beside.set(messageID, context))
      return
    }
    const context = await this.#askFor(session, text, RECALL_WAIT_MS)
    if (isFirst) this.#beside.set(messageID, context)
    else if (context) parts.push(hiddenPart(session.id, messageID, parts, context))
  }

  /**
   * Put beside the messages what is not part of them, for this model call: OpenCode does not keep it.
   * @param {import("./conversation.js").Message[]} messages
   */
  besideMessages(messages) {
    for (const { info, parts } of messages) {
      const context = this.#beside.get(info.id)
      const { sessionID } = /** @type {{sessionID?: string}} */ (info)
      if (context) parts.push(hiddenPart(String(sessionID), info.id, parts, context))
    }
  }

  /**
   * @param {import("./sessions.js").Session} session
   * @param {string} text
   * @param {number} limitMs
   * @returns {Promise<string>} which never rejects
   */
  async #askFor(session, text, limitMs) {
    const answer = await this.#background.run("what is known about a message", async () => {
      const left = countdown(limitMs)
      if (!(await this.#sessions.isMain(session))) return undefined
      const params = { session: session.id, text }
      return this.#engine.call("session/message", params, { limitMs: left() })
    })
    return String(answer?.context ?? "")
  }
}
