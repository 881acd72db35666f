// The tools that the model can call. The engine checks their arguments: OpenCode does not.
import { failureOf, INVALID_PARAMS } from "./process.js"

const MORE_MS = 5_000 // than the engine's own limit, so that its answer is the one that is read

/**
 * @typedef {import("./installed.js").ToolDescription} ToolDescription
 * @typedef {{sessionID?: string, abort?: AbortSignal}} ToolContext
 */

/**
 * @param {ToolDescription[]} descriptions
 * @param {import("./engine.js").Engine} engine
 */
export function toolsFor(descriptions, engine) {
  return Object.fromEntries(descriptions.map((description) => [description.name, toolFor(description, engine)]))
}

/**
 * @param {ToolDescription} description
 * @param {import("./engine.js").Engine} engine
 */
function toolFor({ name, description, parameters, seconds }, engine) {
  return {
    description,
    args: parameters.properties ?? {},
    execute: async (/** @type {unknown} */ given, /** @type {ToolContext | undefined} */ context) => {
      const args = isRecord(given) ? given : {}
      const patience = { limitMs: seconds * 1_000 + MORE_MS, signal: context?.abort }
      const params = { name, arguments: args, session: context?.sessionID }
      try {
        const answer = await engine.call("tools/call", params, patience)
        return result(name, args, String(answer?.text ?? ""), { failed: false, data: answer?.data ?? {} })
      } catch (error) {
        const { code, data } = /** @type {{code?: unknown, data?: unknown}} */ (error)
        const output = `${code === INVALID_PARAMS ? `${name} was not run: ` : ""}${failureOf(error)}`
        return result(name, args, output, { failed: true, data: data ?? {} })
      }
    },
  }
}

/**
 * @param {string} name
 * @param {Record<string, unknown>} args
 * @param {string} output
 * @param {{failed: boolean, data: unknown}} metadata for programs: the result with the engine's field names
 */
function result(name, args, output, metadata) {
  const subject = [args.query, args.path, args.topic, args.text].find((value) => typeof value === "string" && value)
  return { title: subject ? String(subject).slice(0, 80) : name, output, metadata }
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
