// What was said in a session, in the shapes of OpenCode: messages of parts.
import { within } from "./timing.js"

const FETCH_LIMIT_MS = 5_000
const LONGEST_TEXT = 20_000
const MOST_TEXT = 4_000_000 // a request to the engine has to stay below 16 MiB

// How the files in ../commands begin and end.
const COMMAND = /^The user typed (\/\w+), with the words below[^]*\nThe words:\n([^]*)$/

/**
 * @typedef {{id: string, type: string, text?: string, synthetic?: boolean, ignored?: boolean}} Part
 * @typedef {{info: {id: string, role: string, time?: object, summary?: unknown}, parts: Part[]}} Message
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
 * @param {any} client OpenCode's client
 * @param {string} sessionID
 * @param {number} most how many messages are looked at
 * @returns {Promise<object[]>}
 */
export async function said(client, sessionID, most) {
  const request = client.session.messages({ path: { id: sessionID }, query: { limit: most } })
  const { data, error } = await within(request, FETCH_LIMIT_MS, "reading the messages")
  if (!Array.isArray(data)) throw new Error(`the messages cannot be read: ${JSON.stringify(error) ?? "no answer"}`)
  return lastOnes(data.slice(-most).flatMap(spoken))
}

/**
 * @param {Message} message
 * @returns {{info: object, parts: {type: string, text: string}[]}[]}
 */
function spoken({ info, parts }) {
  const text = info.summary === true ? "" : asTyped(writtenText(parts))
  if (!text.trim()) return []
  const { id, role, time } = info
  return [{ info: { id, role, time }, parts: [{ type: "text", text: text.slice(0, LONGEST_TEXT) }] }]
}

/**
 * Our slash commands as the user typed them: what they tell the model is not worth keeping.
 * @param {string} text
 * @returns {string}
 */
function asTyped(text) {
  const [, name, words] = COMMAND.exec(text) ?? []
  return name ? `${name} ${words.trim()}`.trim() : text
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
