// What opencode.json may say about this plugin: ["./.opencode/memlines/plugin.js", { … }].

/**
 * @typedef {object} Options
 * @property {string[]} command how to start the engine; empty: as it was installed
 * @property {string} workspace the folder of the memory; empty: the engine finds it
 * @property {boolean} bootstrap whether a session starts with what the memory holds
 * @property {boolean} recall whether a message brings what is known about it
 * @property {boolean} snapshots whether the end of a turn is kept
 * @property {boolean} flush whether what should last is written down before a compaction
 * @property {boolean} toasts whether /remember and the like are suggested
 * @property {boolean} files whether edited notes are told to the engine
 * @property {boolean} maintenance whether the model is shown memory_sync and memory_status
 * @property {"engine" | "opencode" | "off"} intent who decides what a message asks for
 */

/** @type {Readonly<Options>} */
const DEFAULTS = Object.freeze({
  command: [],
  workspace: "",
  bootstrap: true,
  recall: true,
  snapshots: true,
  flush: true,
  toasts: true,
  files: true,
  maintenance: false,
  intent: "engine",
})

const isBoolean = (/** @type {unknown} */ value) => typeof value === "boolean"

/** @type {Record<string, {fits: (value: any) => boolean, wanted: string}>} */
const CHECKS = {
  command: {
    fits: (value) =>
      Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string" && word),
    wanted: "a list of words",
  },
  workspace: { fits: (value) => typeof value === "string" && value !== "", wanted: "the path of a folder" },
  intent: { fits: (value) => ["engine", "opencode", "off"].includes(value), wanted: "engine, opencode or off" },
}
const SWITCH = { fits: isBoolean, wanted: "true or false" }

/**
 * Take what is right of the options; the rest is named, and what was left out keeps its default.
 * @param {unknown} given
 * @returns {{options: Options, isExplicit: boolean, complaints: string[]}}
 */
export function readOptions(given) {
  const entries = given && typeof given === "object" ? Object.entries(given) : []
  const complaints = entries.flatMap(([name, value]) => complaint(name, value) ?? [])
  const taken = entries.filter(([name, value]) => !complaint(name, value))
  const options = { ...DEFAULTS, ...Object.fromEntries(taken) }
  return { options, isExplicit: taken.length > 0, complaints }
}

/**
 * @param {string} name
 * @param {unknown} value
 * @returns {string | undefined}
 */
function complaint(name, value) {
  if (!Object.hasOwn(DEFAULTS, name)) return `the option ${name} is unknown and was ignored`
  const { fits, wanted } = CHECKS[name] ?? SWITCH
  return fits(value) ? undefined : `the option ${name} has to be ${wanted} and was ignored`
}
