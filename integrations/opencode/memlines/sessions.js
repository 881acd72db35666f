// What is known of the sessions that are open, and what each of them starts with.
import { LruMap } from "./lru.js"
import { inTime, within } from "./timing.js"

/** How long the first model call of a session may wait for the context; later ones never do. */
export const BOOTSTRAP_WAIT_MS = 250

const START_LIMIT_MS = 15_000
const LOOK_UP_LIMIT_MS = 1_000
const MOST_SESSIONS = 200

export class Session {
  /** @type {boolean | undefined} whether a person talks in it; undefined while nobody has looked */
  isMain = undefined
  /** @type {string | undefined} what it starts with, once the engine has said */
  context = undefined
  /** @type {Promise<unknown> | undefined} */
  fetching = undefined
  /** Counts how often the context was asked for anew. */
  round = 0
  hasWaited = false
  /** @type {boolean | undefined} whether the memory was switched on when it was last asked */
  isUsed = undefined
  /** The message that is being answered. */
  messageID = ""
  /** The message for which something was suggested last. */
  suggestedFor = ""
  /** @type {string | undefined} the slash command whose text comes next */
  command = undefined
  /** What the last snapshot was made of. */
  snapshotOf = ""

  /** @param {string} id */
  constructor(id) {
    this.id = id
  }
}

export class Sessions {
  /** @type {LruMap<string, Session>} */
  #known = new LruMap(MOST_SESSIONS)
  #host
  #engine
  #background

  /**
   * @param {import("./memory.js").Host} host
   * @param {import("./engine.js").Engine} engine
   * @param {import("./timing.js").Background} background
   */
  constructor(host, engine, background) {
    this.#host = host
    this.#engine = engine
    this.#background = background
  }

  /**
   * @param {string} id
   * @returns {Session}
   */
  open(id) {
    const session = this.#known.get(id) ?? new Session(id)
    this.#known.set(id, session)
    return session
  }

  /** @param {string} id */
  forget(id) {
    this.#known.delete(id)
  }

  /**
   * @param {string} id
   * @param {boolean | undefined} isMain if that is known already
   */
  created(id, isMain) {
    const session = this.open(id)
    session.isMain = isMain
    if (isMain !== false) this.begin(session)
  }

  /**
   * Whether a person talks in the session. Those of subagents, and our own, are none of our business.
   * @param {Session} session
   * @returns {Promise<boolean>}
   */
  async isMain(session) {
    session.isMain ??= await this.#lookUp(session.id)
    return session.isMain
  }

  /**
   * Have the engine begin the session, unless it has or does so already.
   * @param {Session} session
   */
  begin(session) {
    if (session.context !== undefined || session.fetching) return
    const { round } = session
    session.fetching = this.#background.run("the start of a session", () => this.#fetch(session, round))
    session.fetching.then(() => {
      if (session.round === round) session.fetching = undefined
    })
  }

  /**
   * Fetch the context anew: it was of a conversation that is no longer the same.
   * @param {Session} session
   */
  beginAgain(session) {
    session.round += 1
    session.context = undefined
    session.fetching = undefined
    session.hasWaited = false
    this.begin(session)
  }

  /**
   * @param {Session} session
   * @param {boolean} isUsed whether the memory is switched on, as the engine says now
   */
  noticeUse(session, isUsed) {
    const changed = session.isUsed !== undefined && session.isUsed !== isUsed
    session.isUsed = isUsed
    if (changed) this.beginAgain(session)
  }

  /** After the memory was switched on or off nothing that was fetched before counts. */
  beginAllAgain() {
    for (const session of [...this.#known.values()]) {
      if (session.isMain) this.beginAgain(session)
    }
  }

  /**
   * What the session starts with: the same text for each model call, or nothing while it is not there.
   * @param {Session} session
   * @returns {Promise<string>}
   */
  async context(session) {
    if (session.context === undefined && !session.hasWaited) {
      session.hasWaited = true
      this.begin(session)
      await inTime(Promise.resolve(session.fetching), BOOTSTRAP_WAIT_MS)
    }
    return session.context ?? ""
  }

  /**
   * @param {Session} session
   * @param {number} round
   */
  async #fetch(session, round) {
    if (!(await this.isMain(session))) return
    const answer = await this.#engine.call("session/start", { session: session.id }, { limitMs: START_LIMIT_MS })
    if (session.round === round) session.context = String(answer?.context ?? "")
  }

  /**
   * @param {string} id
   * @returns {Promise<boolean>}
   */
  #lookUp(id) {
    return within(this.#host.isMain(id), LOOK_UP_LIMIT_MS, "looking up a session")
  }
}
