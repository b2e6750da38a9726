import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createApp, type App } from '../app.ts'
import { ApiError } from '../app/client/api-client.ts'
import type { Config } from '../config/config.ts'
import type { CommandContext } from './command.ts'
import { setUp, type SetUp } from './setup.ts'
import { listenForStop } from './stop-signals.ts'
import { createWelcome, logLine, welcomeLine, welcomeText } from './welcome.ts'
import type { OwnWorker } from './workers/join.ts'

type ServeOptions = { readonly acceptsLoss: boolean; readonly worker: OwnWorker | undefined }

/** Serves in this process until it is stopped. Of several workers only the first one prints, and only at its first start. */
export async function serveApp(
  context: CommandContext,
  settings: Config,
  { acceptsLoss, worker }: ServeOptions,
): Promise<number> {
  const { env, isTerminal, print, printData, printError, progress } = context
  const isSpeaker = worker === undefined || (worker.number === 1 && !worker.isRestart)
  await using app = await createApp(settings, env, { acceptsLoss, workers: worker })
  const stop = listenForStop(env, worker)
  let first: SetUp | undefined
  const addresses = await app.listen(async () => void (first = await firstStart(app, settings.setup.keys_file)))
  if (isSpeaker) {
    const welcome = await createWelcome(app, { addresses, config: settings, first, workers: worker?.count })
    // Without a terminal, every line of the output is JSON, so that a log collector can parse it.
    const isSeen = isTerminal === true || progress !== undefined
    if (isTerminal) print(welcomeText(welcome))
    else printData(welcomeLine(welcome, { withSecrets: !isSeen }))
    if (isSeen && !isTerminal) printError(welcomeText(welcome))
  }
  worker?.ready()
  releaseStartupMemory()
  await stop.first
  const stopping = shutdownText(settings.server.drain_delay_ms)
  if (isSpeaker) {
    if (isTerminal) print(stopping)
    else printData(logLine(stopping))
  }
  await Promise.race([app.drain(), stop.second])
  return 0
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
