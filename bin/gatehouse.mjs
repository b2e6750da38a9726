#!/usr/bin/env node
/**
 * Turns the compile cache on before the first file with types is read, in this thread and in those that it starts. What
 * was read before then needs neither compiling nor the tool that strips types, which takes 30 MB and a tenth of a second.
 */
import * as nodeModule from 'node:module'
import { dirname } from 'node:path'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(
    `Gatehouse needs Node 24.15 or newer, and this is ${process.versions.node}. Run it through npm, which installs its own: npm start, or npm run gatehouse -- COMMAND.\n`,
  )
  process.exit(1)
}
const { directory } = nodeModule.enableCompileCache()
if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= dirname(directory)
await import('../src/main.ts')
