import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createApp, type App } from '../app.ts'
import { ApiError } from '../app/api-client.ts'
import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'
import { setUp, type SetUp } from './setup.ts'
import { listenForStop } from './stop-signals.ts'
import { createWelcome, logLine, welcomeLine, welcomeText } from './welcome.ts'

export const serve: Command = {
  summary: 'Start the gateway',
  usage: `gatehouse serve [--host ADDRESS] [--port PORT] [--config FILE] [--data-dir FOLDER] [--accept-loss]

  --host ADDRESS     the address to listen on; 127.0.0.1 unless configured
  --port PORT        the port to listen on; 8080 unless configured, 0 for any free one
  --config FILE      the configuration file; ./gatehouse.yaml unless set
  --data-dir FOLDER  the folder of the embedded database; ./data unless configured
  --accept-loss      start although the redo log is damaged after a crash; the audit log records what is lost

All other settings come from the configuration file and the environment; docs/configuration.md lists them.`,
  settings: { '--host': 'GATEHOUSE_HOST', '--port': 'GATEHOUSE_PORT' },
  async run({ args, config, env, isTerminal, print, printData, printError, progress }) {
    const { values } = readArguments(args, { 'accept-loss': { type: 'boolean' } })
    const settings = config()
    await using app = await createApp(settings, env, { acceptsLoss: values['accept-loss'] === true })
    const stop = listenForStop(env)
    let first: SetUp | undefined
    const addresses = await app.listen(async () => void (first = await firstStart(app, settings.setup.keys_file)))
    const welcome = await createWelcome(app, { addresses, config: settings, first })
    // Without a terminal, every line of the output is JSON, so that a log collector can parse it.
    const isSeen = isTerminal === true || progress !== undefined
    if (isTerminal) print(welcomeText(welcome))
    else printData(welcomeLine(welcome, { withSecrets: !isSeen }))
    if (isSeen && !isTerminal) printError(welcomeText(welcome))
    releaseStartupMemory()
    await stop.first
    const stopping = shutdownText(settings.server.drain_delay_ms)
    if (isTerminal) print(stopping)
    else printData(logLine(stopping))
    await Promise.race([app.drain(), stop.second])
    return 0
  },
}

const shutdownText = (delayMs: number): string =>
  delayMs === 0
    ? 'Stopping: no new requests; responses in progress have 30 seconds.'
    : `Stopping: not ready; new requests are accepted for another ${delayMs / 1000} s, then responses in progress have 30 seconds.`

async function firstStart({ client }: App, keysFile: string | undefined): Promise<SetUp | undefined> {
  try {
    return await setUp(client, { name: 'My organization', keysFile })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'already_set_up') return undefined
    throw error
  }
}

/** The first request of a new user is answered by then; the garbage collection takes a tenth of a second. */
const releaseAfterMs = 1_000

/**
 * Collects garbage once after the start. The start reads hundreds of files, and V8 keeps the memory until it needs it
 * for something else; a server that waits for its first request returns a quarter of its memory to the system.
 */
function releaseStartupMemory(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc') // `gc` exists in contexts that are created from now on, not in this one
    const collect: unknown = runInNewContext('gc')
    if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  }, releaseAfterMs).unref()
}
