#!/usr/bin/env node
/**
 * In a clone, turns the compile cache on before the first file with types is read, in this thread and in those that it starts.
 * What was read before then needs neither compiling nor the tool that strips types, which takes 30 MB and a tenth of a second.
 * The npm package has no types to strip. There Node's own variable NODE_COMPILE_CACHE turns the cache on, and without it
 * nothing is written outside of the data folder.
 */
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { dirname } from 'node:path'

const isClone = existsSync(new URL('../tsconfig.json', import.meta.url))
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  const advice = isClone
    ? 'Run it through npm, which installs its own: npm start, or npm run gatehouse -- COMMAND.'
    : 'Install a newer Node, such as the current LTS version.'
  process.stderr.write(`Gatehouse needs Node 24.15 or newer, and this is ${process.versions.node}. ${advice}\n`)
  process.exit(1)
}
const directory = isClone ? nodeModule.enableCompileCache().directory : undefined
if (directory !== undefined) process.env['NODE_COMPILE_CACHE'] ??= dirname(directory)
await import('../src/main.ts')
