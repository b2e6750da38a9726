import { createInterface } from 'node:readline/promises'
import { runCommandLine } from './cli/run.ts'
import { visible } from './cli/table.ts'

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
  isTerminal: process.stdout.isTTY,
  print: (text) => void process.stdout.write(`${process.stdout.isTTY ? visible(text) : text}\n`),
  printError: (text) => void process.stderr.write(`${process.stderr.isTTY ? visible(text) : text}\n`),
  progress: process.stderr.isTTY ? (text) => void process.stderr.write(`\r\u001b[K${visible(text)}`) : undefined,
  confirm,
})

/** Prompts on the terminal. Without a terminal the answer is no. */
async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}
