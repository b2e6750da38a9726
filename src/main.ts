import { confirmOnTerminal } from './cli/confirm.ts'
import { printable } from './cli/printable.ts'
import { runCommandLine } from './cli/run.ts'

// What is stored is its owner's alone, also in a folder that others may read.
process.umask(0o077)

// Whoever reads an answer may stop in the middle of it, as `head` does. Words that find no room end nothing: a server goes on.
let isAllSaid = true
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || !isAllSaid) return
  isAllSaid = false
  process.stderr.write(`Not all could be said: ${error.message}\n`)
})
process.once('exit', () => {
  if (!isAllSaid) process.exitCode = 1
})

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  say: (line) => void process.stdout.write(`${process.stdout.isTTY ? printable(line) : line}\n`),
  remark: (line) => void process.stderr.write(`${line}\n`),
  progress: process.stderr.isTTY ? (text) => void process.stderr.write(`\r\u001b[K${text}`) : undefined,
  confirm: confirmOnTerminal,
})
