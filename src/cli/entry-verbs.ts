import { stringify } from 'yaml'
import { apiPath, type ApiClient } from '../app/client/api-client.ts'
import { isRecord } from '../base/record.ts'
import { resolveReferences, type Environment } from '../config/config.ts'
import { required } from './arguments.ts'
import type { Result, Work } from './run-on-server.ts'
import { readYamlFile } from './yaml-file.ts'

/** The verbs that change an upstream or a model. */
const entryVerbs = ['show', 'create', 'update', 'delete', 'pause', 'resume'] as const
type EntryVerb = (typeof entryVerbs)[number]

export const isEntryVerb = (verb: string): verb is EntryVerb => entryVerbs.some((each) => each === verb)

type EntryCall = {
  readonly what: 'upstream' | 'model'
  readonly name: string | undefined
  readonly file: string | undefined
  readonly env: Environment
}

type Entry = {
  readonly id: string | null
  readonly name: string
  readonly paused: boolean
  readonly settings: object | null
}

/** An upstream or a model of the organization, by its name or id. */
export function entryWork(verb: EntryVerb, { what, name, file, env }: EntryCall): Work {
  const list = `/v1/organization/${what}s`
  if (verb === 'create') {
    const body = entryFileOf(required(file, '-f FILE'), { what, env })
    return async ({ client }) => resultOf(await client.post<Entry>(list, body))
  }
  const path = apiPath`/v1/organization/${`${what}s`}/${required(name, `The name of the ${what}`)}`
  if (verb === 'show') return async ({ client }) => resultOf(await client.get<Entry>(path))
  if (verb === 'delete')
    return async ({ client }) => {
      const { body: response } = await client.request('DELETE', path)
      return { json: response, text: `${name} is deleted.` }
    }
  const { name: _, ...changed } = verb === 'update' ? entryFileOf(required(file, '-f FILE'), { what, env }) : {}
  const body = verb === 'update' ? changed : { paused: verb === 'pause' }
  return async ({ client }) => resultOf(await change(client, path, body))
}

const change = async (client: ApiClient, path: string, body: object): Promise<Entry> =>
  (await client.request<Entry>('PATCH', path, { body })).body

/** The entry that a file describes, also as the only item of `upstreams` or `models`, as the configuration has it. */
function entryFileOf(file: string, { what, env }: Pick<EntryCall, 'what' | 'env'>): Record<string, unknown> {
  const whole = readYamlFile(file)
  const list = isRecord(whole) ? whole[`${what}s`] : undefined
  const entry: unknown = Array.isArray(list) && list.length === 1 ? list[0] : whole
  if (!isRecord(entry)) throw new Error(`${file}: there must be one ${what}, with its fields.`)
  const { headers, ...fields } = entry
  const read = (field: string, value: unknown): unknown =>
    typeof value === 'string' ? resolveReferences(value, { env, file, field }) : value
  return {
    ...fields,
    ...('api_key' in fields && { api_key: read('api_key', fields['api_key']) }),
    ...(isRecord(headers) && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, read(`headers.${name}`, value)]),
      ),
    }),
  }
}

function resultOf(entry: Entry): Result {
  const { id, name, paused, settings } = entry
  const origin = id === null ? 'defined in the configuration of the server' : `${id}${paused ? ', paused' : ''}`
  const lines = [`${name}  ${origin}`, ...(settings === null ? [] : ['', stringify(settings).trimEnd()])]
  return { json: entry, text: lines.join('\n') }
}
