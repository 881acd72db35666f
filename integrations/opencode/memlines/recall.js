// What the memory knows about a message that is about the past goes beside that message.
import { hiddenPart, writtenText } from "./conversation.js"
import { LruMap } from "./lru.js"
import { countdown, inTime } from "./timing.js"

/** How long a message may be held up. */
export const RECALL_WAIT_MS = 300

const LATE_LIMIT_MS = 8_000
const LONGEST_TEXT = 8_000
const MOST_MESSAGES = 200

export class Recall {
  /** @type {LruMap<string, string>} what is not part of its message, by the message */
  #beside = new LruMap(MOST_MESSAGES)
  /** @type {LruMap<string, Promise<string>>} what was asked about a message whose model calls are still to come */
  #asked = new LruMap(MOST_MESSAGES)
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
   * Put what is known beside the message. While the engine still starts, nobody waits for it; what comes
   * late goes beside the message at the next model call. The first message stays as it is: OpenCode makes
   * the title of the session from it.
   * @param {import("./sessions.js").Session} session
   * @param {string} messageID
   * @param {import("./conversation.js").Part[]} parts
   * @param {boolean} isFirst
   */
  async besideMessage(session, messageID, parts, isFirst) {
    const text = writtenText(parts).slice(0, LONGEST_TEXT)
    if (!text.trim()) return
    const asked = this.#askFor(session, text)
    const context = this.#engine.isReady ? await inTime(asked, RECALL_WAIT_MS) : undefined
    if (context === undefined || isFirst) asked.then((late) => this.#beside.set(messageID, late))
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
   * Ask what is known about a message, for the model calls that follow; nobody waits for it here.
   * @param {import("./sessions.js").Session} session
   * @param {string} messageID
   * @param {string} text
   */
  ask(session, messageID, text) {
    if (!text.trim() || this.#asked.has(messageID)) return
    const asked = this.#askFor(session, text.slice(0, LONGEST_TEXT))
    this.#asked.set(messageID, asked)
    asked.then((context) => this.#beside.set(messageID, context))
  }

  /**
   * Wait a moment for what was asked about a message; only the first model call does.
   * @param {string} messageID
   */
  async settled(messageID) {
    const asked = this.#asked.get(messageID)
    if (!asked) return
    this.#asked.set(messageID, Promise.resolve(""))
    if (this.#engine.isReady) await inTime(asked, RECALL_WAIT_MS)
  }

  /**
   * What is known about a message by now, and is not part of it.
   * @param {string} messageID
   */
  beside(messageID) {
    return this.#beside.get(messageID) ?? ""
  }

  /**
   * The memory may be switched off elsewhere while the session goes on: then nothing of it is shown any more.
   * @param {import("./sessions.js").Session} session
   * @param {boolean} isUsed
   */
  #noticeUse(session, isUsed) {
    if (!isUsed) this.#beside.clear()
    this.#sessions.noticeUse(session, isUsed)
  }

  /**
   * @param {import("./sessions.js").Session} session
   * @param {string} text
   * @returns {Promise<string>} which never rejects
   */
  async #askFor(session, text) {
    const answer = await this.#background.run("what is known about a message", async () => {
      const left = countdown(LATE_LIMIT_MS)
      if (!(await this.#sessions.isMain(session))) return undefined
      const params = { session: session.id, text }
      return this.#engine.call("session/message", params, { limitMs: left() })
    })
    if (answer) this.#noticeUse(session, answer.in_use !== false)
    return String(answer?.context ?? "")
  }
}
