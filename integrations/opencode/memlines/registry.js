// OpenCode may load this plugin twice for one directory: installed globally and in the project, or found
// and named in opencode.json. Only one of them works; each may come from a file of its own, so what they
// share hangs on the global object.

// By the first name of the project, so that a plugin installed by that name and this one count as one.
const KEY = Symbol.for("recollect.opencode")

/**
 * @typedef {object} Instance
 * @property {boolean} isExplicit
 * @property {number} [generation] of OpenCode that it was made for; 1 if it does not say
 * @property {() => void} retire
 */

/** @returns {Map<string, Instance>} */
function instances() {
  const shared = /** @type {Record<symbol, Map<string, Instance>>} */ (/** @type {unknown} */ (globalThis))
  return (shared[KEY] ??= new Map())
}

/**
 * Become the instance of a directory. The later one wins, as its tools win in OpenCode; but one that has no
 * options of its own gives way to one that has. What OpenCode 1 asked for goes before all: it calls `setup`, too.
 * @param {string} directory
 * @param {Instance} instance
 * @returns {boolean}
 */
export function claim(directory, instance) {
  const current = instances().get(directory)
  if (current && !goesBefore(instance, current)) return false
  instances().set(directory, instance)
  current?.retire()
  return true
}

/**
 * @param {Instance} instance
 * @param {Instance} current
 */
function goesBefore(instance, current) {
  const [own, other] = [instance.generation ?? 1, current.generation ?? 1]
  return own === other ? instance.isExplicit || !current.isExplicit : own < other
}

/**
 * @param {string} directory
 * @param {Instance} instance
 */
export function release(directory, instance) {
  if (instances().get(directory) === instance) instances().delete(directory)
}
