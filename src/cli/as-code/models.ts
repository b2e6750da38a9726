import { apiPath } from '../../app/client/api-client.ts'
import type { StoredEntryFile } from '../../app/client/resource-files.ts'
import { messageOf } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import { isReference, resolveReferences } from '../../config/config.ts'
import { leafDifferences, leavesOf } from '../leaf-diff.ts'
import type { Located } from './files.ts'
import { withLeaves } from './sinks.ts'
import type { StoredEntryState } from './state.ts'
import { actionOf, matchOf, ownerDifference, reportDuplicates, type Planning, type Step } from './step.ts'

type Settings = Readonly<Record<string, unknown>>

type EntryKind = {
  readonly kind: 'upstream' | 'model'
  readonly path: '/v1/organization/upstreams' | '/v1/organization/models'
  readonly entries: readonly Located<StoredEntryFile>[]
  readonly current: readonly StoredEntryState[]
}

/** Upstreams come before the models that name them. */
export const planUpstreams = (planning: Planning): Step[] =>
  planEntries(planning, {
    kind: 'upstream',
    path: '/v1/organization/upstreams',
    entries: planning.resources.upstreams,
    current: planning.state.upstreams,
  })

export const planModels = (planning: Planning): Step[] =>
  planEntries(planning, {
    kind: 'model',
    path: '/v1/organization/models',
    entries: planning.resources.models,
    current: planning.state.models,
  })

function planEntries(planning: Planning, of: EntryKind): Step[] {
  const planned = of.entries.map((entry) => ({ entry, step: planEntry(planning, entry, of) }))
  reportDuplicates(
    planning,
    planned.map(({ entry, step: { id, name } }) => ({ entry, id, name: [name] })),
  )
  return planned.map(({ step }) => step)
}

function planEntry(planning: Planning, entry: Located<StoredEntryFile>, { kind, path, ...of }: EntryKind): Step {
  const { id: _, name, paused = false, ...settings } = entry.value
  const current = matchOf(planning, entry, {
    kind,
    all: of.current,
    entries: of.entries,
    named: (candidates) => candidates.filter((each) => each.name === name),
  })
  if (current && current.name !== name)
    planning.report(entry, { path: ['name'], message: `name: cannot be changed from ${current.name}` })
  const secrets = secretFieldsOf(settings)
  requireReferences(planning, entry, secrets)
  const stored = current?.settings ?? {}
  const storedSecrets = secretFieldsOf(stored)
  const shown = without(settings, secrets)
  const own = leafDifferences(current ? { paused: current.paused, ...without(stored, storedSecrets) } : {}, {
    paused,
    ...shown,
  })
  const isMoved = own.some(({ field }) => ['kind', 'server', 'base_url'].includes(field))
  const sent = secrets.filter((field) => !storedSecrets.includes(field) || isMoved || planning.updatesSecrets)
  const removed = storedSecrets.filter((field) => !secrets.includes(field))
  const others = [
    ...own,
    ...sent.map((field) => ({ field, before: undefined, after: '(secret)' })),
    ...removed.map((field) => ({ field, before: '(secret)', after: undefined })),
  ]
  const differences = [...others, ...ownerDifference(planning, entry, { current, others })]
  const values = (): ReadonlyMap<string, unknown> =>
    new Map(sent.map((field) => [field, secretValue(planning, entry, field)]))
  const run: Step['run'] = async (client) => {
    if (!current) return client.post<{ id: string }>(path, { name, paused, ...withLeaves(shown, values()) })
    const gone = [...leavesOf(without(stored, storedSecrets)).keys(), ...removed].filter(
      (field) => !leavesOf(shown).has(field) && !secrets.includes(field),
    )
    const body = { paused, ...withLeaves(withLeaves(shown, new Map(gone.map((field) => [field, null]))), values()) }
    await client.request(
      'PATCH',
      apiPath`/v1/organization/${kind === 'model' ? 'models' : 'upstreams'}/${current.id}`,
      {
        body,
      },
    )
    return { id: current.id }
  }
  const action = actionOf(current, differences)
  return { kind, name, id: current?.id, action, differences, prepare: () => void values(), run }
}

/** The key and the headers of an upstream. A model has none. */
export function secretFieldsOf({ api_key: key, headers }: Settings): string[] {
  return [
    ...(key === undefined ? [] : ['api_key']),
    ...(isRecord(headers) ? Object.keys(headers).map((name) => `headers.${name}`) : []),
  ]
}

const without = (settings: Settings, fields: readonly string[]): Settings => {
  const { headers: _, ...rest } = withLeaves(settings, new Map(fields.map((field) => [field, undefined])))
  return rest
}

function requireReferences(planning: Planning, entry: Located<StoredEntryFile>, secrets: readonly string[]): void {
  for (const field of secrets) {
    const value = leavesOf(entry.value).get(field)
    if (typeof value === 'string' && isReference(value)) continue
    const message = `${field}: is a secret: write \${NAME} for an environment variable or \${file:PATH}, not the secret itself`
    planning.report(entry, { path: field.split('.'), message })
  }
}

/** The value that the reference in a secret field stands for. */
function secretValue({ env }: Planning, entry: Located<StoredEntryFile>, field: string): string {
  const text = String(leavesOf(entry.value).get(field))
  try {
    return resolveReferences(text, { env, file: entry.file, field })
  } catch (error) {
    throw new Error(`${entry.at(field.split('.'))}: ${messageOf(error)}.`, { cause: error })
  }
}
