// OpenCode finds this file by itself. To set options, name ../memlines/plugin.js in opencode.json as well:
// the options of a file that OpenCode finds are not handed to it.
export { default } from "../memlines/plugin.js"
