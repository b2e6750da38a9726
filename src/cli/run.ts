import packageFile from '../../package.json' with { type: 'json' }
import { ApiError } from '../app/api-client.ts'
import { messageOf } from '../base/fault.ts'
import { ConfigError, readConfig } from '../config/config.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { commands } from './commands.ts'

type CommandEnvironment = Omit<CommandContext, 'args' | 'config'>

/** Runs a command and returns the exit code: 0 done, 1 failed, 2 wrong usage or configuration. */
export async function runCommandLine(argv: readonly string[], environment: CommandEnvironment): Promise<number> {
  const [name, ...args] = argv
  const { print, printError, env } = environment
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    print(await overview())
    return 0
  }
  if (name === '--version' || name === '-v') {
    print(packageFile.version)
    return 0
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!load) {
    printError(`There is no command ${name}.\n\n${await overview()}`)
    return 2
  }
  const command = await load()
  if (args.includes('--help') || args.includes('-h')) {
    print(`${command.summary}\n\n${command.usage}`)
    return 0
  }
  try {
    return await command.run({ ...environment, args, config: () => readConfig(env) })
  } catch (error) {
    return explain(error, command, printError)
  }
}

function explain(error: unknown, command: Command, printError: (text: string) => void): number {
  if (error instanceof UsageError) {
    printError(`${error.message}\n\n${command.usage}`)
    return 2
  }
  if (error instanceof ConfigError) {
    printError(error.message)
    return 2
  }
  printError(error instanceof ApiError ? apiErrorText(error) : messageOf(error))
  if (error instanceof ApiError && error.cause !== undefined) printError(String(error.cause))
  return 1
}

/** The message, then the code and the field of the API's error. */
const apiErrorText = ({ message, code, param }: ApiError): string =>
  `${message} (${code}${param === null || message.startsWith(param) ? '' : `, ${param}`})`

async function overview(): Promise<string> {
  const loaded = await Promise.all(Object.entries(commands).map(async ([name, load]) => ({ name, ...(await load()) })))
  const width = Math.max(...loaded.map(({ name }) => name.length))
  const lines = loaded.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return [
    'gatehouse COMMAND [options]',
    '',
    ...lines,
    '',
    'gatehouse COMMAND --help shows the options of a command.',
  ].join('\n')
}
