// One run of the engine: a child process that answers JSON-RPC, one object a line.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { LineSplitter, Tail } from "./lines.js"
import { later, messageOf } from "./timing.js"

/** The engine's words for what cannot be meant as it was asked, and for a memory that is switched off. */
export const INVALID_PARAMS = -32602
const MEMORY_OFF = -32005

/** What every call is answered where the program is missing, as in a clone of a project that has this plugin. */
export const NOT_INSTALLED =
  "Memlines is not installed on this machine: run `pip install memlines` and, in this project," +
  " `memlines install opencode`, then restart OpenCode."

const NO_MODULE = /No module named '?memlines\b/
const NO_PROGRAM = new Set(["ENOENT", "EACCES", "ENOTDIR", "ENOEXEC"])

const LONGEST_ANSWER = 16 * 1024 * 1024
const MOST_UNREAD = 32 * 1024 * 1024
const MOST_OPEN = 60 // the engine refuses more than 64
const HUNG_AFTER_MS = 10_000
const LAST_WORDS_MS = 200
const KILL_AFTER_MS = 3_000

export class EngineError extends Error {
  /**
   * @param {string} message
   * @param {{code?: number, data?: unknown, died?: boolean}} more `died`: the engine ended while it had the request
   */
  constructor(message, { code, data, died = false } = {}) {
    super(message)
    this.code = code
    this.data = data
    this.died = died
  }
}

/**
 * What is told about a request that failed: that the memory is unavailable, unless that is not the reason.
 * @param {unknown} error
 */
export function failureOf(error) {
  const { code } = /** @type {{code?: unknown}} */ (error)
  const isPlain = code === INVALID_PARAMS || code === MEMORY_OFF
  return isPlain ? messageOf(error) : `memory unavailable: ${messageOf(error)}`
}

/**
 * @typedef {{command: string[], env: Record<string, string>, cwd: string}} Launch
 * @typedef {{limitMs: number, signal?: AbortSignal}} Patience
 * @typedef {{resolve: (result: any) => void, reject: (error: EngineError) => void}} Waiting
 */

export class EngineProcess {
  /** @type {Map<number, Waiting>} */
  #waiting = new Map()
  #lastId = 0
  #lastHeard = 0
  #stderr = new Tail()
  #reason = ""
  /** @type {EngineError | undefined} */
  #over
  #onOver
  #child

  /**
   * @param {Launch} launch
   * @param {(error: EngineError, lastWords: string) => void} onOver called once, when the engine has ended
   */
  constructor({ command, env, cwd }, onOver) {
    this.#onOver = onOver
    this.#child = spawn(command[0], command.slice(1), {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    })
    this.#listen(cwd)
    this.#letClientEnd()
  }

  get isOver() {
    return this.#over !== undefined
  }

  /**
   * @param {string} method
   * @param {object} params
   * @param {Patience} patience
   * @returns {Promise<any>}
   */
  request(method, params, { limitMs, signal }) {
    if (this.#over) return Promise.reject(this.#over)
    if (signal?.aborted) return Promise.reject(new EngineError("cancelled"))
    if (this.#waiting.size >= MOST_OPEN) return Promise.reject(new EngineError("too many requests are open"))
    if (this.#child.stdin.writableLength > MOST_UNREAD) {
      return Promise.reject(new EngineError("the engine does not read what it is sent"))
    }
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const sentAt = Date.now()
      const timer = later(() => this.#giveUp(id, method, limitMs, sentAt), limitMs)
      const cancel = () => this.#cancel(id, "cancelled")
      const forget = () => {
        clearTimeout(timer)
        signal?.removeEventListener("abort", cancel)
        this.#waiting.delete(id)
      }
      this.#waiting.set(id, {
        resolve: (result) => (forget(), resolve(result)),
        reject: (error) => (forget(), reject(error)),
      })
      signal?.addEventListener("abort", cancel, { once: true })
      this.#send({ id, method, params })
    })
  }

  /** End it in good order: at the end of its input the engine finishes what it has begun. */
  end() {
    this.#child.stdin.end()
    later(() => this.kill("it did not end"), KILL_AFTER_MS)
  }

  /** @param {string} reason */
  kill(reason) {
    if (this.#over) return
    this.#reason = reason
    this.#child.kill("SIGKILL")
    this.#finish(reason)
  }

  /** @param {string} cwd */
  #listen(cwd) {
    const child = this.#child
    const answers = new LineSplitter(
      (line) => this.#hear(line),
      () => this.kill("the engine sent a line that is too long"),
      LONGEST_ANSWER,
    )
    const complaints = new LineSplitter((line) => this.#stderr.add(line), () => undefined, 100_000)
    child.stdout.setEncoding("utf8").on("data", (text) => answers.push(text))
    child.stderr.setEncoding("utf8").on("data", (text) => complaints.push(text))
    // A broken pipe is told by the end of the process, with its last words.
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.on("error", () => undefined)
    const finish = (/** @type {string} */ reason) => {
      complaints.end()
      this.#finish(reason)
    }
    child.on("error", (/** @type {NodeJS.ErrnoException} */ error) => {
      const isMissing = NO_PROGRAM.has(error.code ?? "") && existsSync(cwd)
      finish(isMissing ? NOT_INSTALLED : `the engine cannot be started: ${messageOf(error)}`)
    })
    child.on("close", (code, signal) => finish(ending(code, signal)))
    // Something that the engine started may hold its pipes open, and then there is no "close".
    child.on("exit", (code, signal) => later(() => finish(ending(code, signal)), LAST_WORDS_MS))
  }

  /** The client may end while the engine runs: the engine then sees the end of its input. */
  #letClientEnd() {
    const { stdin, stdout, stderr } = this.#child
    this.#child.unref()
    for (const pipe of [stdin, stdout, stderr]) /** @type {any} */ (pipe).unref?.()
  }

  /** @param {object} message */
  #send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  }

  /** @param {string} line */
  #hear(line) {
    let answer
    try {
      answer = JSON.parse(line)
    } catch {
      return // not an answer; something printed a line of its own
    }
    this.#lastHeard = Date.now()
    const waiting = this.#waiting.get(answer?.id)
    if (!waiting) return // it came too late, and nobody waits for it any more
    if (answer.error) waiting.reject(refusal(answer.error))
    else waiting.resolve(answer.result ?? null)
  }

  /**
   * @param {number} id
   * @param {string} method
   * @param {number} limitMs
   * @param {number} sentAt
   */
  #giveUp(id, method, limitMs, sentAt) {
    this.#cancel(id, `no answer to ${method} within ${limitMs} ms`)
    if (limitMs >= HUNG_AFTER_MS && this.#lastHeard < sentAt) this.kill("the engine hung")
  }

  /**
   * @param {number} id
   * @param {string} why
   */
  #cancel(id, why) {
    this.#waiting.get(id)?.reject(new EngineError(why))
    if (!this.#over) this.#send({ method: "$/cancel", params: { id } })
  }

  /** @param {string} reason */
  #finish(reason) {
    if (this.#over) return
    const lastWords = this.#stderr.last
    const isMissing = NO_MODULE.test(lastWords)
    const message = lastWords && !this.#reason ? `${reason}: ${lastWords}` : reason
    const started = this.#child.pid !== undefined
    this.#over = new EngineError(isMissing ? NOT_INSTALLED : message, { died: started && !isMissing })
    for (const waiting of [...this.#waiting.values()]) waiting.reject(this.#over)
    this.#onOver(this.#over, lastWords || reason)
  }
}

/**
 * @param {number | null} code
 * @param {string | null} signal
 */
function ending(code, signal) {
  return signal ? `the engine was ended by ${signal}` : `the engine ended with exit code ${code}`
}

/** @param {{code?: number, message?: unknown, data?: {todo?: unknown}}} error */
function refusal({ code, message, data }) {
  const said = String(message ?? "the engine refused it without a reason")
  const todo = typeof data?.todo === "string" && !said.includes(data.todo) ? `. ${data.todo}` : ""
  return new EngineError(said + todo, { code, data })
}
