import type { Addresses, App } from '../app.ts'
import { ApiError, type ApiClient } from '../app/client/api-client.ts'
import type { ConsoleLinkBody } from '../http/operator/console-link.ts'
import type { Config } from '../config/config.ts'
import { setupText, type SetUp } from './setup.ts'

/** What a start reports: the addresses, and on the first start the keys and requests to try. */
export type Welcome = {
  readonly app: Pick<App, 'version' | 'limits' | 'plan'>
  readonly addresses: Addresses
  readonly config: Config
  readonly models: Awaited<ReturnType<App['models']>>
  readonly first: SetUp | undefined
  /** How many processes serve; undefined if it is one. */
  readonly workers?: number | undefined
  /** A one-time link; undefined if this start prints none. */
  readonly consoleLink: string | undefined
}

type Started = Pick<Welcome, 'addresses' | 'config' | 'first' | 'workers'>

export async function createWelcome(app: App, started: Started): Promise<Welcome> {
  return { app, ...started, models: await app.models(), consoleLink: await consoleLink(app.client, started.config) }
}

/** For people. */
export function welcomeText({ app, addresses, config, models, first, workers, consoleLink: link }: Welcome): string {
  const { api: address, administration, metrics } = addresses
  const { names, example } = models
  const { storage } = config
  const lines = [
    `Gatehouse ${app.version}`,
    `  API        ${address}/v1`,
    ...consoleLines(link, config),
    `  reference  ${address}/docs`,
    ...(administration === address ? [] : [`  admin      ${administration}/v1/organization`]),
    ...(metrics === address ? [] : [`  metrics    ${metrics}/metrics`]),
    `  storage    ${storage.database_url === undefined ? `embedded, in ${storage.data_dir}` : 'PostgreSQL'}`,
    ...(workers === undefined ? [] : [`  workers    ${workers}`]),
    `  limits     ${app.limits}`,
    `  models     ${modelsText(names)}`,
  ]
  if (first === undefined) return lines.join('\n')
  const plan = `plan ${app.plan.name}: ${app.plan.requestsPerMinute} requests a minute for each key; gatehouse orgs set-plan changes it`
  const exampleLines = example === undefined ? noExample(names) : ['', 'Try it:', ...examples(address, first, example)]
  return [...lines, '', 'First start. Created:', indent(`${setupText(first)}\n\n${plan}`), ...exampleLines].join('\n')
}

/**
 * For programs that collect the output as a log: one JSON line. It has the keys of the first start and the link to the console only
 * with `withSecrets`, for a start whose output is the only place that the operator sees.
 */
export function welcomeLine(welcome: Welcome, { withSecrets }: { readonly withSecrets: boolean }): string {
  const { app, addresses, config, models, first, workers, consoleLink: link } = welcome
  const { storage } = config
  return logLine('Gatehouse started', {
    version: app.version,
    api: `${addresses.api}/v1`,
    reference: `${addresses.api}/docs`,
    admin: `${addresses.administration}/v1/organization`,
    metrics: `${addresses.metrics}/metrics`,
    storage: storage.database_url === undefined ? 'embedded' : 'postgresql',
    ...(storage.database_url === undefined && { data_dir: storage.data_dir }),
    ...(workers !== undefined && { workers }),
    limits: app.limits,
    models: models.names.slice(0, maxNamesShown),
    ...(withSecrets && link !== undefined && { console_link: link }),
    ...(first && { first_start: firstStartFields(first, withSecrets), plan: planFields(app.plan) }),
  })
}

const planFields = ({ name, requestsPerMinute }: App['plan']) => ({ name, requests_per_minute: requestsPerMinute })

function firstStartFields({ created, keysFile }: SetUp, withSecrets: boolean): object {
  const { organization_id: organizationId, project_id: projectId } = created
  const ids = { organization_id: organizationId, project_id: projectId }
  if (keysFile !== undefined) return { ...ids, keys_file: keysFile }
  return withSecrets ? created : ids
}

/** A line in the format of the log. */
export const logLine = (message: string, fields: object = {}): string =>
  JSON.stringify({ level: 'info', time: new Date().toISOString(), ...fields, message })

function consoleLines(link: string | undefined, { console: settings, server }: Config): string[] {
  if (!settings.enabled) return []
  if (link === undefined) return ['  console    gatehouse console link prints an address that signs you in']
  const isEverywhere = server.public_url === undefined && /^(?:0\.0\.0\.0|::)$/.test(server.admin_host ?? server.host)
  const note = isEverywhere ? '; from other machines over HTTPS only' : ''
  return [`  console    ${link}`, `             signs you in once, within 15 minutes${note}`]
}

/**
 * A one-time link, so that a new user needs no key. Other installations print their links with the command. So does one whose
 * keys go to a file, because its output may be collected as a log. Undefined also if there is more than one organization, or no key
 * to act as.
 */
async function consoleLink(
  client: ApiClient,
  { console: settings, setup, storage }: Config,
): Promise<string | undefined> {
  const isPrivate = storage.database_url === undefined && setup.keys_file === undefined
  if (!settings.enabled || !isPrivate) return undefined
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
