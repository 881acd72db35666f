// Lines for OpenCode's own log. Nothing is ever printed: standard output belongs to the client.

const WINDOW_MS = 60_000
const MOST_LINES = 20

export class Log {
  #client
  #now
  #windowStart = 0
  /** @type {Set<string>} */
  #written = new Set()

  /**
   * @param {any} client OpenCode's client
   * @param {() => number} now
   */
  constructor(client, now = Date.now) {
    this.#client = client
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
    const line = { body: { service: "memlines", level, message: message.slice(0, 2000) } }
    // A log that cannot be written leaves nowhere to say so.
    new Promise((resolve) => resolve(this.#client.app.log(line))).catch(() => undefined)
  }
}
