// What was said in a session: messages of parts, as OpenCode 1 has them.
import { within } from "./timing.js"

const FETCH_LIMIT_MS = 5_000
const LONGEST_TEXT = 20_000
const MOST_TEXT = 4_000_000 // a request to the engine has to stay below 16 MiB

// How the files in ../commands begin and end.
const COMMAND = /^The user typed \/(\w+), with the words below[^]*\nThe words:\n([^]*)$/

/**
 * @typedef {{id: string, type: string, text?: string, synthetic?: boolean, ignored?: boolean}} Part
 * @typedef {{info: {id: string}, parts: Part[]}} Message
 */

/**
 * The text that somebody wrote, as opposed to what programs put in.
 * @param {Part[]} parts
 * @returns {string}
 */
export function writtenText(parts) {
  return parts
    .filter((part) => part.type === "text" && part.text && !part.synthetic && !part.ignored)
    .map((part) => part.text)
    .join("\n")
}

/**
 * A part that the model reads and the user does not see. OpenCode sorts the parts of a message by their id.
 * @param {string} sessionID
 * @param {string} messageID
 * @param {Part[]} parts those that it comes after
 * @param {string} text
 */
export function hiddenPart(sessionID, messageID, parts, text) {
  const last = parts.map((part) => part.id).sort().at(-1) ?? "prt_"
  return { id: `${last}m`, sessionID, messageID, type: "text", text, synthetic: true }
}

/**
 * The last messages of a session with what was said in them: no tools, no thoughts, no summaries.
 * @param {import("./memory.js").Host} host
 * @param {string} sessionID
 * @param {number} most how many messages are looked at
 * @returns {Promise<object[]>}
 */
export async function said(host, sessionID, most) {
  const messages = await within(host.messages(sessionID, most), FETCH_LIMIT_MS, "reading the messages")
  return lastOnes(messages.flatMap(spoken))
}

/**
 * @param {import("./memory.js").Spoken} message
 * @returns {{info: object, parts: {type: string, text: string}[]}[]}
 */
function spoken({ id, role, time, text: whole }) {
  const command = commandIn(whole)
  const text = command ? `/${command.name} ${command.words}`.trim() : whole
  if (!text.trim()) return []
  return [{ info: { id, role, time }, parts: [{ type: "text", text: text.slice(0, LONGEST_TEXT) }] }]
}

/**
 * Our slash command as the user typed it: what it tells the model is not worth keeping.
 * @param {string} text
 * @returns {{name: string, words: string} | undefined}
 */
export function commandIn(text) {
  const [, name, words] = COMMAND.exec(text) ?? []
  return name ? { name, words: words.trim() } : undefined
}

/**
 * @template {{parts: {text: string}[]}} T
 * @param {T[]} messages
 * @returns {T[]}
 */
function lastOnes(messages) {
  let left = MOST_TEXT
  const kept = messages.reverse().filter(({ parts }) => (left -= parts[0].text.length) >= 0)
  return kept.reverse()
}
