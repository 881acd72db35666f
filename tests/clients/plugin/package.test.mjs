// The npm package: its entry finds the program `memlines` and loads in both versions.
import assert from "node:assert/strict"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { test } from "node:test"
import definition from "../../../integrations/opencode/index.js"
import { OpenCode2 } from "./fake_v2.mjs"
import { closing, FakeClient, Script, temporaryFolder } from "./support.mjs"

const PATH = process.env.PATH
const FOUND = { memory_recall: { result: { text: "found" } } }

/** Put a program `memlines` that is the fake engine into a folder. */
function program(folder = temporaryFolder()) {
  const script = new Script(FOUND)
  const command = script.command.map((word) => `'${word}'`).join(" ")
  writeFileSync(join(folder, "memlines"), `#!/bin/sh\nexec ${command} "$@"\n`)
  chmodSync(join(folder, "memlines"), 0o755)
  return { folder, script }
}

/** Load the package as OpenCode 1 does, with folders on the PATH. */
async function load(path, options, directory = temporaryFolder()) {
  process.env.PATH = path
  const hooks = await definition.server({ client: new FakeClient(), directory, worktree: directory }, options)
  process.env.PATH = PATH
  closing(() => hooks.dispose())
  return async () => (await hooks.tool.memory_recall.execute({}, {})).output
}

test("the program on the PATH is the engine in OpenCode 1", async () => {
  const { folder, script } = program()
  const recall = await load([temporaryFolder(), folder].join(delimiter))
  assert.equal(await recall(), "found")
  assert.deepEqual(script.starts[0].argv.slice(-2), ["serve", "--stdio"])
})

test("the program on the PATH is the engine in OpenCode 2", async () => {
  const opencode = new OpenCode2(temporaryFolder())
  process.env.PATH = program().folder
  await opencode.load({ default: definition })
  process.env.PATH = PATH
  closing(() => opencode.unload())
  assert.equal((await opencode.call("memory_recall", {})).content, "found")
})

test("a program of the project is not run, even if the PATH has its folder by a relative name", async () => {
  const directory = temporaryFolder()
  mkdirSync(join(directory, "bin"))
  program(join(directory, "bin"))
  const before = process.cwd()
  process.chdir(directory)
  const recall = await load("bin", {}, directory)
  process.chdir(before)
  assert.match(await recall(), /not installed on this machine/)
})

test("the option command goes before the PATH", async () => {
  const { script } = program()
  const recall = await load(program().folder, { command: script.command })
  assert.equal(await recall(), "found")
  assert.equal(script.starts.length, 1)
})

test("without the program the tools say what to install", async () => {
  assert.match(await (await load(temporaryFolder()))(), /^memory unavailable: .*pip install memlines/)
})
