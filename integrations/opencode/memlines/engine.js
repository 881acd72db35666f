// The engine as the rest of the plugin sees it: there when it is needed, started again when it died.
import { EngineError, EngineProcess, NOT_INSTALLED } from "./process.js"
import { messageOf } from "./timing.js"

export const PROTOCOL = 1
const INITIALIZE_LIMIT_MS = 20_000
const WINDOW_MS = 60_000
const MOST_STARTS = 6 // the first one and five more in a minute
const REST_MS = 30_000
const WORTH_REPEATING_MS = 100

const REPEATABLE_TOOLS = new Set([
  "memory_search",
  "memory_get",
  "memory_recall",
  "memory_remember", // what is known already is not written twice
  "memory_sync",
  "memory_status",
])

/**
 * @typedef {import("./process.js").Launch} Launch
 * @typedef {import("./process.js").Patience} Patience
 */

export class Engine {
  #launch
  #handshake
  #log
  /** @type {EngineProcess | undefined} */
  #process
  /** @type {number[]} */
  #starts = []
  #restUntil = 0
  #trouble = ""
  #ready = false
  #stopped = false

  /**
   * @param {Launch} launch
   * @param {{directory: string, worktree: string}} place
   * @param {import("./log.js").Log} log
   */
  constructor(launch, { directory, worktree }, log) {
    this.#launch = launch
    this.#handshake = { protocol: PROTOCOL, client: { name: "opencode" }, directory, worktree }
    this.#log = log
  }

  /** Whether it runs and has answered: a request now costs no start. */
  get isReady() {
    return this.#ready
  }

  /**
   * Ask the engine, starting it if need be. If it dies over a request that does no harm when it is done
   * twice, a new one is asked once more.
   * @param {string} method
   * @param {Record<string, any>} params
   * @param {Patience} patience
   * @returns {Promise<any>}
   */
  async call(method, params, { limitMs, signal }) {
    const deadline = Date.now() + limitMs
    try {
      return await this.#running().request(method, params, { limitMs, signal })
    } catch (error) {
      const again = error instanceof EngineError && error.died && isRepeatable(method, params)
      const left = deadline - Date.now()
      if (!again || left < WORTH_REPEATING_MS || signal?.aborted) throw error
      return await this.#running().request(method, params, { limitMs: left, signal })
    }
  }

  /** Let it end. Nothing starts it again. */
  stop() {
    this.#stopped = true
    this.#ready = false
    this.#process?.end()
    this.#process = undefined
  }

  /** @returns {EngineProcess} */
  #running() {
    if (this.#stopped) throw new EngineError("the plugin was closed")
    if (this.#process && !this.#process.isOver) return this.#process
    if (!this.#launch.command.length) throw new EngineError(NOT_INSTALLED)
    this.#checkStarts()
    this.#starts.push(Date.now())
    this.#process = this.#start()
    return this.#process
  }

  #checkStarts() {
    const now = Date.now()
    if (now < this.#restUntil) throw new EngineError(this.#trouble)
    this.#starts = this.#starts.filter((start) => now - start < WINDOW_MS)
    if (this.#starts.length < MOST_STARTS) return
    this.#rest(`the engine keeps ending: ${this.#trouble}`)
    throw new EngineError(this.#trouble)
  }

  /** @param {string} trouble what is answered meanwhile */
  #rest(trouble) {
    this.#trouble = trouble
    this.#restUntil = Date.now() + REST_MS
    this.#starts = []
    this.#log.error(trouble)
  }

  /** @returns {EngineProcess} */
  #start() {
    const run = spawned(this.#launch, (error, lastWords) => this.#ended(run, error, lastWords))
    run
      .request("initialize", this.#handshake, { limitMs: INITIALIZE_LIMIT_MS })
      .then((answer) => this.#welcome(run, answer))
      .catch((error) => this.#refused(run, error))
    return run
  }

  /**
   * @param {EngineProcess} run
   * @param {{trouble?: string} | null} answer
   */
  #welcome(run, answer) {
    if (this.#process !== run) return
    this.#ready = true
    if (answer?.trouble) this.#log.warn(answer.trouble)
  }

  /**
   * An engine that does not take part is of no use; one that merely ended has been dealt with.
   * @param {EngineProcess} run
   * @param {unknown} error
   */
  #refused(run, error) {
    if (run.isOver || this.#process !== run) return
    this.#rest(messageOf(error))
    run.kill(messageOf(error))
  }

  /**
   * @param {EngineProcess | undefined} run
   * @param {EngineError} error
   * @param {string} lastWords
   */
  #ended(run, error, lastWords) {
    if (this.#process !== run) return
    this.#ready = false
    if (error.message === NOT_INSTALLED) return this.#rest(NOT_INSTALLED)
    if (Date.now() >= this.#restUntil) this.#trouble = lastWords
    this.#log.warn(error.message)
  }
}

/**
 * @param {Launch} launch
 * @param {(error: EngineError, lastWords: string) => void} onOver
 */
function spawned(launch, onOver) {
  try {
    return new EngineProcess(launch, onOver)
  } catch (error) {
    throw new EngineError(`the engine cannot be started: ${messageOf(error)}`)
  }
}

/**
 * @param {string} method
 * @param {Record<string, any>} params
 */
function isRepeatable(method, params) {
  return method !== "tools/call" || REPEATABLE_TOOLS.has(params.name)
}
