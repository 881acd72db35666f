// The prose in what a tool is about to write.

const PROSE = /\.(md|markdown|mdx|txt|rst|adoc)$/i
const NOTES = /(^|[\\/])(MEMORY\.md$|\.?memory[\\/])/
const PATCH_FILE = /^\*\*\* (?:Add|Update) File: (.+)$/

/**
 * The new text for documents; what goes into the notes of the memory is remembered as it is.
 * @param {string} tool
 * @param {any} args
 * @returns {string}
 */
export function newProse(tool, args) {
  return changes(tool, args ?? {})
    .filter(({ path, text }) => typeof path === "string" && typeof text === "string" && isDocument(path))
    .map(({ text }) => text)
    .join("\n")
}

/** @param {string} path */
function isDocument(path) {
  return PROSE.test(path) && !NOTES.test(path)
}

/**
 * @param {string} tool
 * @param {any} args
 * @returns {{path: unknown, text: unknown}[]}
 */
function changes(tool, args) {
  const path = args.filePath
  switch (tool) {
    case "write":
      return [{ path, text: args.content }]
    case "edit":
      return [{ path, text: args.newString }]
    case "multiedit":
      return [args.edits].flat().map((edit) => ({ path, text: edit?.newString }))
    case "apply_patch":
      return typeof args.patchText === "string" ? addedLines(args.patchText) : []
    default:
      return []
  }
}

/** @param {string} patch */
function addedLines(patch) {
  /** @type {{path: string, text: string}[]} */
  const added = []
  let path = ""
  for (const line of patch.split("\n")) {
    const file = PATCH_FILE.exec(line)
    if (file) path = file[1].trim()
    else if (line.startsWith("+") && path) added.push({ path, text: line.slice(1) })
  }
  return added
}
