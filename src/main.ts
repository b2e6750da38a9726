#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

enableCompileCache() // the second start need not compile again what the first one did
const { confirmOnTerminal } = await import('./cli/confirm.ts')
const { runCommandLine } = await import('./cli/run.ts')

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  say: (line) => void process.stdout.write(`${line}\n`),
  remark: (line) => void process.stderr.write(`${line}\n`),
  progress: process.stderr.isTTY ? (text) => void process.stderr.write(`\r\u001b[K${text}`) : undefined,
  confirm: confirmOnTerminal,
})
