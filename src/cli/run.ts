import packageFile from '../../package.json' with { type: 'json' }
import { ApiError } from '../app/client/api-client.ts'
import { messageOf } from '../base/fault.ts'
import { ConfigError, readConfig, type Config } from '../config/config.ts'
import { takeSettings } from './arguments.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { commands } from './commands.ts'
import { remoteSettings } from './remote.ts'
import { visible } from './table.ts'

/** `print` and `printError` write what they are given. */
type CommandEnvironment = Omit<CommandContext, 'args' | 'config' | 'commands' | 'printData'>

/** Runs a command and returns the exit code: 0 done, 1 failed, 2 wrong usage or configuration, or the code of the command. */
export async function runCommandLine(argv: readonly string[], environment: CommandEnvironment): Promise<number> {
  const [typed, ...args] = argv
  const name = typed === undefined ? undefined : (formerNames.get(typed) ?? typed)
  const { env, print: printData } = environment
  // JSON is for programs, which get every character.
  const shown = args.includes('--json') ? (text: string) => text : visible
  const print = (text: string): void => printData(shown(text))
  const printError = (text: string): void => environment.printError(shown(text))
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
    printError(`Unknown command: ${name}.\n\n${await overview()}`)
    return 2
  }
  const command = await load()
  if (args.includes('--help') || args.includes('-h')) {
    print([command.summary, command.usage, settingsUsage, ...(command.isRemote ? [remoteUsage] : [])].join('\n\n'))
    return 0
  }
  try {
    if (!command.isRemote && name !== 'health' && args.some((word) => /^--url(=|$)/.test(word)))
      throw new UsageError(`${name} works only on the machine of the server, so it has no --url.`)
    const given = takeSettings(args, {
      ...commonSettings,
      ...(command.isRemote && remoteSettings),
      ...command.settings,
    })
    const settings = { ...env, ...given.settings }
    const config = (): Config => readConfig(settings)
    const output = { print, printData, printError }
    return await command.run({ ...environment, ...output, commands, env: settings, args: given.args, config })
  } catch (error) {
    const failure = failureOf(error, command)
    printError(args.includes('--json') ? JSON.stringify({ error: failure.json }) : failure.text)
    return failure.exitCode
  }
}

/** Names of commands in versions before, which still work. */
const formerNames: ReadonlyMap<string, string> = new Map([['exports', 'sinks']])

/** Options of every command, and the variable that each stands for. */
const commonSettings = { '--config': 'GATEHOUSE_CONFIG', '--data-dir': 'GATEHOUSE_DATA_DIR' }

const settingsUsage = `Every command accepts --config FILE and --data-dir FOLDER, which take precedence over GATEHOUSE_CONFIG and
GATEHOUSE_DATA_DIR. With --json, an error is printed on standard error as { "error": { "code", "message", "param" } }.`

const remoteUsage = `--url URL (or GATEHOUSE_URL) calls a server on the network instead of the one of the data folder, with the administrator key in
GATEHOUSE_ADMIN_KEY or in the file of --admin-key-file (or GATEHOUSE_ADMIN_KEY_FILE). The configuration is then not read.`

type Failure = {
  readonly text: string
  readonly json: { readonly code: string; readonly message: string; readonly param: string | null }
  readonly exitCode: number
}

function failureOf(error: unknown, { usage, errorExitCode = 2 }: Command): Failure {
  const message = messageOf(error)
  const json = { code: 'failed', message, param: null }
  if (error instanceof UsageError)
    return { text: `${message}\n\n${usage}`, json: { ...json, code: 'invalid_usage' }, exitCode: errorExitCode }
  if (error instanceof ConfigError)
    return { text: message, json: { ...json, code: 'invalid_configuration' }, exitCode: errorExitCode }
  if (!(error instanceof ApiError)) return { text: message, json, exitCode: 1 }
  const { code, param, cause } = error
  const text = `${message} (${code}${param === null || message.startsWith(param) ? '' : `, ${param}`})`
  return {
    text: cause === undefined ? text : `${text}\n${String(cause)}`,
    json: { code, message, param, ...(cause === undefined ? {} : { cause: String(cause) }) },
    exitCode: 1,
  }
}

async function overview(): Promise<string> {
  const loaded = await Promise.all(Object.entries(commands).map(async ([name, load]) => ({ name, ...(await load()) })))
  const width = Math.max(...loaded.map(({ name }) => name.length))
  const lines = loaded.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return [
    'gatehouse COMMAND [options]',
    '',
    ...lines,
    '',
    'Start the gateway on http://127.0.0.1:8080, with its data in ./data: gatehouse serve',
    'Without an installed command: npx ./gatehouse-gateway-*.tgz serve with the file of a release, or npm start in a clone.',
    'gatehouse COMMAND --help shows the options of a command.',
  ].join('\n')
}
