// The ends of turns and of conversations: snapshots, and what must survive a compaction.
import { createHash } from "node:crypto"
import { said } from "./conversation.js"
import { countdown } from "./timing.js"

const SNAPSHOT_MESSAGES = 40
const WHOLE_CONVERSATION = 400
const IDLE_LIMIT_MS = 15_000 // more than the engine takes itself
const SHOWN_MS = 8_000

/** How long a compaction may be held up. */
export const COMPACTING_LIMIT_MS = 20_000

export class Turns {
  #client
  #engine
  #sessions
  #directory

  /**
   * @param {any} client OpenCode's client
   * @param {import("./engine.js").Engine} engine
   * @param {import("./sessions.js").Sessions} sessions
   * @param {string} directory
   */
  constructor(client, engine, sessions, directory) {
    this.#client = client
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
    const messages = await said(this.#client, session.id, SNAPSHOT_MESSAGES)
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
    await this.#tellOf(answer?.captured ?? [])
  }

  /**
   * Show the facts that were taken from what the user wrote: nothing is kept behind anybody's back.
   * @param {{text: string}[]} captured
   */
  async #tellOf(captured) {
    if (!captured.length) return
    const texts = captured.map(({ text }) => text).join(" · ")
    const message = `Noted: ${texts} (memlines facts review)`
    await this.#client.tui.showToast({ body: { title: "Memory", message, variant: "info", duration: SHOWN_MS } })
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
    return said(this.#client, session.id, WHOLE_CONVERSATION)
  }
}
