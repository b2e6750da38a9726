import type { Config, Environment } from '../config/config.ts'

/** One command of the command line. */
export type Command = {
  readonly summary: string
  readonly usage: string
  /** Whether it can also call the API of a server on the network, with an administrator key. */
  readonly isRemote?: true
  /** Options that stand for an environment variable, beside those that every command has. */
  readonly settings?: Readonly<Record<string, string>>
  /** For wrong usage and configuration, where 2 has another meaning. Default: 2. */
  readonly errorExitCode?: 1 | 2
  /** Returns the exit code. */
  run(context: CommandContext): Promise<number>
}

/** Commands by name. A command is loaded only when it is called, so that the start of the server does not load the others. */
export type Commands = Readonly<Record<string, () => Promise<Command>>>

export type CommandContext = {
  readonly commands: Commands
  readonly args: readonly string[]
  readonly env: Environment
  /** Reads the configuration. A command that does not call it works without a valid one. */
  readonly config: () => Config
  /** Prints a result for people, on standard output. Control characters in it are escaped. */
  readonly print: (text: string) => void
  /** Prints data for a file or a program, on standard output, unchanged. */
  readonly printData: (text: string) => void
  /** Prints an error or a warning, on standard error. Control characters in it are escaped. */
  readonly printError: (text: string) => void
  /** Whether standard output is a terminal. */
  readonly isTerminal?: boolean
  /** Replaces the progress line that was shown before, on standard error; undefined if that is no terminal. */
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

/** `verb` is empty if the command needs one and none was given. */
/** Files of a single kind of resource had an `apply` of their own. */
export const movedToApply = (command: string): UsageError =>
  new UsageError(
    `Unknown subcommand: ${command} apply. Use gatehouse apply -f FILE, and gatehouse plan -f FILE to see the changes before.`,
  )

export function unknownSubcommand(command: string, verb: string): UsageError {
  const problem = verb === '' ? `${command} needs a subcommand` : `Unknown subcommand: ${command} ${verb}`
  return new UsageError(`${problem}. gatehouse ${command} --help lists them.`)
}
