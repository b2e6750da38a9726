import { confirmOnTerminal } from './cli/confirm.ts'
import { printable } from './cli/printable.ts'
import { runCommandLine } from './cli/run.ts'

// New files are accessible to their owner only, even in a folder that others may read.
process.umask(0o077)

// The reader of standard output may close it early, as `head` does. A failed write must not stop a server.
let isOutputComplete = true
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || !isOutputComplete) return
  isOutputComplete = false
  process.stderr.write(`Standard output could not be written completely: ${error.message}\n`)
})
process.once('exit', () => {
  if (!isOutputComplete) process.exitCode = 1
})

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  say: (line) => void process.stdout.write(`${process.stdout.isTTY ? printable(line) : line}\n`),
  remark: (line) => void process.stderr.write(`${line}\n`),
  progress: process.stderr.isTTY ? (text) => void process.stderr.write(`\r\u001b[K${text}`) : undefined,
  confirm: confirmOnTerminal,
})
