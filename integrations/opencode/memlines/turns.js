// The ends of turns and of conversations: snapshots, and what must survive a compaction.
import { createHash } from "node:crypto"
import { said } from "./conversation.js"
import { countdown } from "./timing.js"

const SNAPSHOT_MESSAGES = 40
const WHOLE_CONVERSATION = 400
const IDLE_LIMIT_MS = 15_000 // more than the engine takes itself

/** How long a compaction may be held up. */
export const COMPACTING_LIMIT_MS = 20_000

export class Turns {
  #host
  #engine
  #sessions
  #directory

  /**
   * @param {import("./memory.js").Host} host
   * @param {import("./engine.js").Engine} engine
   * @param {import("./sessions.js").Sessions} sessions
   * @param {string} directory
   */
  constructor(host, engine, sessions, directory) {
    this.#host = host
    this.#engine = engine
    this.#sessions = sessions
    this.#directory = directory
  }

  /**
   * Have a snapshot taken at the end of a turn. OpenCode may say twice that a turn has ended.
   * @param {import("./sessions.js").Session} session
   */
  async ended(session) {
    if (!(await this.#sessions.isMain(session))) return
    const messages = await said(this.#host, session.id, SNAPSHOT_MESSAGES)
    const snapshotOf = createHash("sha256").update(JSON.stringify(messages)).digest("hex")
    if (!messages.length || session.snapshotOf === snapshotOf) return
    session.snapshotOf = snapshotOf
    const params = { session: session.id, messages, client: "opencode", directory: this.#directory }
    let answer
    try {
      answer = await this.#engine.call("session/idle", params, { limitMs: IDLE_LIMIT_MS })
    } catch (error) {
      session.snapshotOf = ""
      throw error
    }
    await this.#tellOf(session, answer?.captured ?? [])
  }

  /**
   * Show the facts that were taken from what the user wrote: nothing is kept behind anybody's back.
   * @param {import("./sessions.js").Session} session
   * @param {{text: string}[]} captured
   */
  async #tellOf(session, captured) {
    if (!captured.length) return
    const texts = captured.map(({ text }) => text).join(" · ")
    await this.#host.tell(session.id, `Noted: ${texts} (memlines facts review)`)
  }

  /**
   * Have written down what should last, and return what must survive the compaction.
   * @param {import("./sessions.js").Session} session
   * @returns {Promise<string>}
   */
  async compacting(session) {
    const left = countdown(COMPACTING_LIMIT_MS)
    if (!(await this.#sessions.isMain(session))) return ""
    const messages = await this.whole(session)
    if (!messages.length) return ""
    const patience = { limitMs: left() }
    const answer = await this.#engine.call("session/compacting", { session: session.id, messages }, patience)
    return String(answer?.context ?? "")
  }

  /** @param {import("./sessions.js").Session} session */
  whole(session) {
    return said(this.#host, session.id, WHOLE_CONVERSATION)
  }
}
