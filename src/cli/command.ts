import type { Config, Environment } from '../config/config.ts'

/** One command of the command line. */
export type Command = {
  readonly summary: string
  readonly usage: string
  /** Returns the exit code. */
  run(context: CommandContext): Promise<number>
}

export type CommandContext = {
  readonly args: readonly string[]
  readonly env: Environment
  /** Reads the configuration. A command that does not call it works without a valid one. */
  readonly config: () => Config
  /** Prints a result, on standard output. */
  readonly print: (text: string) => void
  /** Prints an error or a warning, on standard error. */
  readonly printError: (text: string) => void
  /** Replaces the progress line that was shown before; undefined without a terminal. */
  readonly progress?: ((text: string) => void) | undefined
  /** Prompts on the terminal. Without a terminal the answer is no. */
  readonly confirm: (question: string) => Promise<boolean>
}

/** The arguments do not match the usage of the command. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}
