// The slash command /memory is carried out here; the model only tells the user what came of it.
import { failureOf } from "./process.js"
import { countdown } from "./timing.js"

/** How long /memory may take. */
export const COMMAND_LIMIT_MS = 60_000

const SWITCHES = new Set(["on", "off"])

/** The slash commands that ask for a tool of ours: what they say is no question to the memory itself. */
export const OWN_COMMANDS = new Set(["memory", "remember", "recall", "forget"])

/**
 * Whether `/memory` with these words switches the memory on or off.
 * @param {string} words
 */
export function isSwitch(words) {
  return SWITCHES.has(words.trim().toLowerCase())
}

/**
 * @param {import("./engine.js").Engine} engine
 * @param {import("./sessions.js").Session} session
 * @param {string} words
 * @param {() => Promise<object[]>} wholeConversation
 * @returns {Promise<string>} what the model is told; it never rejects
 */
export async function memoryCommand(engine, session, words, wholeConversation) {
  const left = countdown(COMMAND_LIMIT_MS)
  let told
  try {
    const isCompact = words.trim().toLowerCase() === "compact"
    const messages = isCompact ? { messages: await wholeConversation() } : {}
    const params = { arguments: words, session: session.id, ...messages }
    const answer = await engine.call("command/run", params, { limitMs: left() })
    told = String(answer?.text ?? "")
  } catch (error) {
    told = failureOf(error)
  }
  const quoted = told.replace(/<(?=\/?\s*memlines-result)/gi, "&lt;")
  return `<memlines-result>\n${quoted}\n</memlines-result>`
}
