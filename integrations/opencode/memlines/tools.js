// The tools that the model can call. The engine checks their arguments: OpenCode does not.
// They answer in words whatever happens: OpenCode 2 ends a session over a tool that throws.
import { failureOf, INVALID_PARAMS } from "./process.js"

const MORE_MS = 5_000 // than the engine's own limit, so that its answer is the one that is read

/**
 * @typedef {import("./installed.js").ToolDescription} ToolDescription
 * @typedef {{sessionID?: string, signal?: AbortSignal}} Caller
 * @typedef {{output: string, metadata: {failed: boolean, data: any}}} Answer the metadata is for programs: the result
 *   with the engine's field names
 */

/**
 * The tools of OpenCode 1.
 * @param {ToolDescription[]} descriptions
 * @param {import("./engine.js").Engine} engine
 */
export function toolsFor(descriptions, engine) {
  return Object.fromEntries(descriptions.map((tool) => [tool.name, toolFor(tool, engine)]))
}

/**
 * @param {ToolDescription} tool
 * @param {import("./engine.js").Engine} engine
 */
function toolFor(tool, engine) {
  return {
    description: tool.description,
    args: tool.parameters.properties ?? {},
    execute: async (/** @type {any} */ given, /** @type {{sessionID?: string, abort?: AbortSignal} | undefined} */ context) => {
      const caller = { sessionID: context?.sessionID, signal: context?.abort }
      const answer = await call(tool, engine, given, caller)
      const values = [given?.query, given?.path, given?.topic, given?.text]
      const subject = values.find((value) => typeof value === "string" && value)
      return { title: subject ? String(subject).slice(0, 80) : tool.name, ...answer }
    },
  }
}

/**
 * @param {ToolDescription} tool
 * @param {import("./engine.js").Engine} engine
 * @param {unknown} given
 * @param {Caller} caller
 * @returns {Promise<Answer>} which never rejects
 */
export async function call({ name, seconds }, engine, given, { sessionID, signal }) {
  const params = { name, arguments: isRecord(given) ? given : {}, session: sessionID }
  try {
    const answer = await engine.call("tools/call", params, { limitMs: seconds * 1_000 + MORE_MS, signal })
    return { output: String(answer?.text ?? ""), metadata: { failed: false, data: answer?.data ?? {} } }
  } catch (error) {
    const { code, data } = /** @type {{code?: unknown, data?: unknown}} */ (error)
    const output = `${code === INVALID_PARAMS ? `${name} was not run: ` : ""}${failureOf(error)}`
    return { output, metadata: { failed: true, data: data ?? {} } }
  }
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
