import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createApp, type Addresses, type App } from '../app.ts'
import { ApiError, type ApiClient } from '../app/api-client.ts'
import type { ConsoleLinkBody } from '../app/api-types.ts'
import type { Config } from '../config/config.ts'
import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'
import { setUp, setupText, type SetUp } from './setup.ts'
import { listenForStop } from './stop-signals.ts'

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
  async run({ args, config, env, print }) {
    const { values } = readArguments(args, { 'accept-loss': { type: 'boolean' } })
    const settings = config()
    await using app = await createApp(settings, env, { acceptsLoss: values['accept-loss'] === true })
    const stop = listenForStop(env)
    print(await welcome(app, await app.listen(), settings))
    releaseStartupMemory()
    await stop.first
    print(shutdownText(settings.server.drain_delay_ms))
    await Promise.race([app.drain(), stop.second])
    return 0
  },
}

const shutdownText = (delayMs: number): string =>
  delayMs === 0
    ? 'Stopping: no new requests; responses in progress have 30 seconds.'
    : `Stopping: not ready; new requests are accepted for another ${delayMs / 1000} s, then responses in progress have 30 seconds.`

/** The addresses, and on the first start the keys and requests to try. */
async function welcome(app: App, addresses: Addresses, config: Config): Promise<string> {
  const { storage, setup } = config
  const { api: address, administration, metrics } = addresses
  const { names, example } = await app.models()
  const lines = [
    `Gatehouse ${app.version}`,
    `  API        ${address}/v1`,
    `  reference  ${address}/docs`,
    ...(administration === address ? [] : [`  admin      ${administration}/v1/organization`]),
    ...(metrics === address ? [] : [`  metrics    ${metrics}/metrics`]),
    `  storage    ${storage.database_url === undefined ? `embedded, in ${storage.data_dir}` : 'PostgreSQL'}`,
    `  limits     ${app.limits}`,
    `  models     ${modelsText(names)}`,
  ]
  const first = await firstStart(app, setup.keys_file)
  lines.splice(2, 0, ...(await consoleLines(app, config)))
  if (first === undefined) return lines.join('\n')
  const exampleLines = example === undefined ? noExample(names) : ['', 'Try it:', ...examples(address, first, example)]
  return [...lines, '', 'First start. Created:', indent(setupText(first)), ...exampleLines].join('\n')
}

/**
 * A one-time link, so that a new user needs no key. Other installations print their links with the command. So does one whose
 * keys go to a file, because its output may be collected as a log.
 */
async function consoleLines({ client }: App, config: Config): Promise<string[]> {
  const { console: settings, server, setup, storage } = config
  if (!settings.enabled) return []
  const isPrivate = storage.database_url === undefined && setup.keys_file === undefined
  const link = isPrivate ? await consoleLink(client) : undefined
  if (link === undefined) return ['  console    gatehouse console link prints an address that signs you in']
  const isEverywhere = server.public_url === undefined && /^(?:0\.0\.0\.0|::)$/.test(server.admin_host ?? server.host)
  const note = isEverywhere ? '; from other machines over HTTPS only' : ''
  return [`  console    ${link}`, `             signs you in once, within 15 minutes${note}`]
}

/** Undefined if there is more than one organization, or no key to act as. */
async function consoleLink(client: ApiClient): Promise<string | undefined> {
  try {
    return (await client.post<ConsoleLinkBody>('/operator/organization/console_links', {})).url
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return undefined
    throw error
  }
}

const maxNamesShown = 10

function modelsText(names: readonly string[]): string {
  if (names.length === 0) return 'none yet: name them in gatehouse.yaml'
  const more = names.length - maxNamesShown
  return `${names.slice(0, maxNamesShown).join(', ')}${more > 0 ? ` and ${more} more: GET /v1/models lists them` : ''}`
}

/** The upstreams of the name patterns listed no model. */
const noExample = (names: readonly string[]): string[] =>
  names.length === 0 ? [] : ['', 'No upstream lists a model yet. See why: gatehouse doctor']

async function firstStart({ client }: App, keysFile: string | undefined): Promise<SetUp | undefined> {
  try {
    return await setUp(client, { name: 'My organization', keysFile })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'already_set_up') return undefined
    throw error
  }
}

function examples(address: string, { created, keysFile }: SetUp, model: string): string[] {
  const header =
    keysFile === undefined ? `'authorization: Bearer ${created.application_key}'` : '"authorization: Bearer $API_KEY"'
  const curl = (path: string, body: object): string =>
    `  curl ${address}${path} -H ${header} -H 'content-type: application/json' \\\n    -d '${JSON.stringify(body)}'`
  const messages = [{ role: 'user', content: 'Hello' }]
  return [
    ...(keysFile === undefined
      ? []
      : [`  API_KEY=$(sed -n 's/.*"application_key": "\\(.*\\)".*/\\1/p' '${keysFile.replaceAll("'", `'\\''`)}')`]),
    curl('/v1/messages', { model, max_tokens: 100, messages }),
    curl('/v1/responses', { model, input: 'Hello' }),
    curl('/v1/chat/completions', { model, messages }),
  ]
}

const indent = (text: string): string => text.replace(/^(?=.)/gm, '  ')

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
