import { createInterface } from 'node:readline/promises'

/** Asks whoever sits at the terminal; where nobody does, the answer is no. */
export async function confirmOnTerminal(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim())
  } finally {
    terminal.close()
  }
}
