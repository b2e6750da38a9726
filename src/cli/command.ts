import type { Config, Environment } from '../config/config.ts'

/** One command of the command line. It says what it does, and does it. */
export type Command = {
  readonly summary: string
  readonly usage: string
  run(context: CommandContext): Promise<number>
}

export type CommandContext = {
  readonly args: readonly string[]
  readonly env: Environment
  /** Read when asked for: a command that needs none works without a valid one. */
  readonly config: () => Config
  /** For answers. */
  readonly say: (line: string) => void
  /** For remarks beside the answer. */
  readonly remark: (line: string) => void
  /** Shows how far something is, over what it showed before; undefined where nobody watches. */
  readonly progress?: ((text: string) => void) | undefined
  /** Asks the person at the terminal; where there is none, the answer is no. */
  readonly confirm: (question: string) => Promise<boolean>
}

/** The command was not called as its usage says. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}
