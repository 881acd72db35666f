// What the installer put beside this file.
import { readFileSync } from "node:fs"

/**
 * @typedef {{properties?: Record<string, object>}} Parameters
 * @typedef {{name: string, description: string, parameters: Parameters, seconds: number, maintenance?: boolean}} ToolDescription
 * @typedef {{command: string[], env: Record<string, string>}} InstalledCommand
 */

/**
 * @param {URL} folder
 * @returns {ToolDescription[]}
 */
export function installedTools(folder) {
  return JSON.parse(readFileSync(new URL("tools.json", folder), "utf8"))
}

/**
 * How the engine is started: by the interpreter that it was installed with. Without the file, and without
 * an option that says it, the command is empty.
 * @param {URL} folder
 * @returns {InstalledCommand}
 */
export function installedCommand(folder) {
  let text
  try {
    text = readFileSync(new URL("command.json", folder), "utf8")
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return { command: [], env: {} }
    throw error
  }
  const { command, env } = JSON.parse(text)
  return { command: Array.isArray(command) ? command : [], env: env ?? {} }
}
