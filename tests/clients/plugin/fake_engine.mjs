// An engine that does as it is told: MEMLINES_FAKE names a JSON file with what each method answers.
//   {"answers": {"session/start": {"result": {…}}, "memory_search": {"error": {…}, "delay": 50}}}
// Faults: "silent", "die": code, "dieOnce": code, "garbage", "wrongId", "huge", and for the whole run "complain".
// What came in is appended to the file "<plan>.seen"; each run also appends its own start and end there.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { createInterface } from "node:readline"

const plan = process.env.MEMLINES_FAKE ?? process.argv[2]
const read = () => JSON.parse(readFileSync(plan, "utf8"))
const { complain = "" } = read()
const note = (entry) => appendFileSync(`${plan}.seen`, `${JSON.stringify(entry)}\n`)
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)

function dies(how, name) {
  if (how.die !== undefined) return true
  const mark = `${plan}.${name.replaceAll("/", "_")}.died`
  if (how.dieOnce === undefined || existsSync(mark)) return false
  writeFileSync(mark, "")
  return true
}

function respond(id, how, name) {
  if (dies(how, name)) {
    console.error(how.words ?? "the engine fell over")
    process.exit(how.die ?? how.dieOnce)
  }
  if (how.silent) return
  if (how.garbage) process.stdout.write("warning: this is not JSON\n{\"half\": \n[1, 2]\nnull\n")
  if (how.wrongId) send({ id: 9999, result: { text: "for somebody else" } })
  if (how.huge) process.stdout.write(`${"x".repeat(how.huge)}\n`)
  if (how.error) send({ id, error: how.error })
  else send({ id, result: how.result ?? {} })
}

note({ start: process.pid, argv: process.argv.slice(2), env: process.env.FROM_COMMAND_JSON })
if (complain) console.error(complain)
createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line)
    note({ id, method, params })
    if (id === undefined) return
    const name = method === "tools/call" ? params.name : method
    const how = read().answers?.[name] ?? {}
    setTimeout(() => respond(id, how, name), how.delay ?? 0)
  })
  .on("close", () => {
    note({ end: process.pid })
    process.exit(0)
  })
