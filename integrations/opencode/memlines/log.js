// Lines for OpenCode's own log. Nothing is ever printed: standard output belongs to the client.

const WINDOW_MS = 60_000
const MOST_LINES = 20

/** @typedef {(level: "warn" | "error", message: string) => unknown} Write */

export class Log {
  #put
  #now
  #windowStart = 0
  /** @type {Set<string>} */
  #written = new Set()

  /**
   * @param {Write} put where lines go
   * @param {() => number} now
   */
  constructor(put, now = Date.now) {
    this.#put = put
    this.#now = now
  }

  /** @param {string} message */
  warn(message) {
    this.#write("warn", message)
  }

  /** @param {string} message */
  error(message) {
    this.#write("error", message)
  }

  /**
   * A minute holds few lines, and each of them once: a broken engine must not flood the log.
   * @param {"warn" | "error"} level
   * @param {string} message
   */
  #write(level, message) {
    if (this.#now() - this.#windowStart >= WINDOW_MS) {
      this.#windowStart = this.#now()
      this.#written.clear()
    }
    if (this.#written.has(message) || this.#written.size >= MOST_LINES) return
    this.#written.add(message)
    // A log that cannot be written leaves nowhere to say so.
    new Promise((resolve) => resolve(this.#put(level, message.slice(0, 2000)))).catch(() => undefined)
  }
}
