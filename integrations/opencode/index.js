// The entry of the npm package. No installer wrote down how to start the engine here, so the program
// `memlines` is looked for on the PATH; the option `command` says it otherwise.
import { existsSync } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"
import { server, setup } from "./memlines/plugin.js"

const PROGRAM = process.platform === "win32" ? "memlines.exe" : "memlines"

export default {
  id: "memlines",
  server: (/** @type {any} */ input, /** @type {object | undefined} */ options) => server(input, withCommand(options)),
  setup: (/** @type {any} */ ctx) => setup(ctx, withCommand(ctx?.options)),
}

/** @param {object | undefined} options */
function withCommand(options) {
  // A folder that is relative would be one of the project, which may come from anywhere.
  const folders = (process.env.PATH ?? "").split(delimiter).filter(isAbsolute)
  const program = folders.map((folder) => join(folder, PROGRAM)).find(existsSync)
  return { ...(program ? { command: [program, "serve", "--stdio"] } : {}), ...options }
}
