// Notes that were edited, told to the engine a moment later and once.
import { isAbsolute, join } from "node:path"
import { later } from "./timing.js"

const DEBOUNCE_MS = 200
const LIMIT_MS = 15_000 // more than the engine takes itself
const MOST_PATHS = 500 // a checkout may touch thousands; the engine looks for changes by itself, too

export class FileChanges {
  /** @type {Set<string>} */
  #paths = new Set()
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  #directory
  #engine
  #background

  /**
   * @param {string} directory what paths are relative to
   * @param {import("./engine.js").Engine} engine
   * @param {import("./timing.js").Background} background
   */
  constructor(directory, engine, background) {
    this.#directory = directory
    this.#engine = engine
    this.#background = background
  }

  /** @param {unknown} file */
  note(file) {
    if (typeof file !== "string" || !file.endsWith(".md") || this.#paths.size >= MOST_PATHS) return
    this.#paths.add(isAbsolute(file) ? file : join(this.#directory, file))
    this.#timer ??= later(() => this.#tell(), DEBOUNCE_MS)
  }

  #tell() {
    const paths = [...this.#paths]
    this.#paths.clear()
    this.#timer = undefined
    this.#background.run("telling of edited notes", async () => {
      for (const path of paths) await this.#engine.call("file/changed", { path }, { limitMs: LIMIT_MS })
    })
  }
}
