// The memory of one directory: its parts, put together for either OpenCode.
import { Engine } from "./engine.js"
import { FileChanges } from "./files.js"
import { installedCommand, installedTools } from "./installed.js"
import { Log } from "./log.js"
import { readOptions } from "./options.js"
import { Recall } from "./recall.js"
import { claim, release } from "./registry.js"
import { Sessions } from "./sessions.js"
import { Background, messageOf, within } from "./timing.js"
import { Turns } from "./turns.js"

/** What a hook may take beyond the work that it waits for. */
export const SLACK_MS = 100
export const QUICK_MS = 500

const LAST_WORK_MS = 3_000

/**
 * What OpenCode does for the memory.
 *
 * @typedef {object} Host
 * @property {number} generation of OpenCode
 * @property {(id: string, most: number) => Promise<Spoken[]>} messages the last messages of a session, oldest first
 * @property {(id: string) => Promise<boolean>} isMain whether a person talks in a session, here
 * @property {(id: string, message: string) => Promise<unknown>} tell the user something, while a session goes on
 *
 * @typedef {{id: string, role: string, time?: object, text: string}} Spoken
 * @typedef {{directory: string, worktree: string}} Place
 */

export class Memory {
  #end = new AbortController()

  /**
   * @param {Host} host
   * @param {Place} place
   * @param {unknown} given the options of opencode.json
   * @param {URL} folder where tools.json and command.json are
   * @param {Log} log
   */
  constructor(host, place, given, folder, log) {
    const { options, isExplicit, complaints } = readOptions(given)
    complaints.forEach((complaint) => log.warn(complaint))
    const { directory } = place
    this.options = options
    this.isExplicit = isExplicit
    this.generation = host.generation
    this.log = log
    this.directory = directory
    this.descriptions = installedTools(folder).filter((tool) => options.maintenance || !tool.maintenance)
    this.background = new Background(log)
    this.engine = new Engine(launch(options, folder, directory), place, log)
    this.sessions = new Sessions(host, this.engine, this.background)
    this.recall = new Recall(this.engine, this.sessions, this.background)
    this.turns = new Turns(host, this.engine, this.sessions, directory)
    this.files = new FileChanges(directory, this.engine, this.background)
  }

  /** Become the one memory of the directory; whether another stays it. */
  claim() {
    return claim(this.directory, this)
  }

  /** Aborted when this memory is not the one of its directory any more. */
  get ended() {
    return this.#end.signal
  }

  /** Another instance has taken over the directory, or OpenCode ends. */
  retire() {
    this.#end.abort()
    this.engine.stop()
  }

  async dispose() {
    release(this.directory, this)
    await this.background.settled(LAST_WORK_MS)
    this.retire()
  }

  /**
   * A hook that has a time limit and never throws.
   * @param {string} name
   * @param {number} limitMs
   * @param {(...given: any[]) => Promise<unknown>} work
   */
  hook(name, limitMs, work) {
    return async (/** @type {any[]} */ ...given) => {
      if (this.ended.aborted) return
      try {
        await within(work(...given), limitMs, `the hook ${name}`)
      } catch (error) {
        this.log.warn(`${name}: ${messageOf(error)}`)
      }
    }
  }

  /** @param {string} id of a session */
  turnEnded(id) {
    if (!this.options.snapshots) return
    this.background.run("the end of a turn", () => this.turns.ended(this.sessions.open(id)))
  }

  /** @param {unknown} file */
  fileChanged(file) {
    if (this.options.files) this.files.note(file)
  }
}

/**
 * @param {import("./options.js").Options} options
 * @param {URL} folder
 * @param {string} cwd
 * @returns {import("./process.js").Launch}
 */
function launch(options, folder, cwd) {
  const { command, env } = options.command.length ? { command: options.command, env: {} } : installedCommand(folder)
  const workspace = options.workspace && command.length ? ["--workspace", options.workspace] : []
  return { command: [...command, ...workspace], env, cwd }
}
