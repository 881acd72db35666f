// Waiting that ends: nothing in this plugin may hold up the client, or keep it alive.

/**
 * A timer that does not keep the process alive.
 * @param {() => void} action
 * @param {number} ms
 * @returns {NodeJS.Timeout}
 */
export function later(action, ms) {
  const timer = setTimeout(action, ms)
  timer.unref?.()
  return timer
}

/**
 * @param {number} ms
 * @returns {Promise<void>}
 */
export function pause(ms) {
  return new Promise((resolve) => later(resolve, ms))
}

/**
 * Settle as the promise does, or reject when the time is up.
 * @template T
 * @param {Promise<T>} promise
 * @param {number} limitMs
 * @param {string} what the subject of the error's sentence
 * @returns {Promise<T>}
 */
export function within(promise, limitMs, what) {
  return new Promise((resolve, reject) => {
    const timer = later(() => reject(new Error(`${what} took longer than ${limitMs} ms`)), limitMs)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/**
 * The value of a promise that never rejects, or undefined if it does not come in time.
 * @template T
 * @param {Promise<T>} promise
 * @param {number} waitMs
 * @returns {Promise<T | undefined>}
 */
export function inTime(promise, waitMs) {
  return new Promise((resolve) => {
    const timer = later(() => resolve(undefined), waitMs)
    promise.then((value) => {
      clearTimeout(timer)
      resolve(value)
    })
  })
}

/**
 * How much of a time is left, for work of several steps.
 * @param {number} limitMs
 * @returns {() => number} milliseconds, at least one
 */
export function countdown(limitMs) {
  const deadline = Date.now() + limitMs
  return () => Math.max(1, deadline - Date.now())
}

/**
 * @param {unknown} error
 * @returns {string}
 */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Work that goes on while the client does something else. A failure is logged and goes no further.
 */
export class Background {
  /** @type {Set<Promise<unknown>>} */
  #open = new Set()
  #log

  /** @param {import("./log.js").Log} log */
  constructor(log) {
    this.#log = log
  }

  /**
   * @template T
   * @param {string} what
   * @param {() => Promise<T>} work
   * @returns {Promise<T | undefined>} which never rejects
   */
  run(what, work) {
    const done = Promise.resolve()
      .then(work)
      .catch((error) => {
        this.#log.warn(`${what}: ${messageOf(error)}`)
        return undefined
      })
    this.#open.add(done)
    done.then(() => this.#open.delete(done))
    return done
  }

  /**
   * Wait until nothing is open any more, but not for long.
   * @param {number} waitMs
   */
  async settled(waitMs) {
    await inTime(Promise.all(this.#open), waitMs)
  }
}
