// Memlines in OpenCode: one definition for both. OpenCode 1 calls `server`, OpenCode 2 calls `setup`; each
// ignores the other.
import { server } from "./v1.js"
import { setup } from "./v2.js"

export { server, setup }

export default { id: "memlines", server, setup: (/** @type {any} */ ctx) => setup(ctx) }
