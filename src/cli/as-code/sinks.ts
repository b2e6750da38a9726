import { apiPath } from '../../app/client/api-client.ts'
import type { ExportBody } from '../../http/policy-gateway/exports/schema.ts'
import { sinkFileKind, sinkTypeNames, type SinkFileEntry, type SinkFileKind } from '../../app/client/resource-files.ts'
import { messageOf } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import { isReference, resolveReferences } from '../../config/config.ts'
import { leafDifferences, leavesOf } from '../leaf-diff.ts'
import type { Located } from './files.ts'
import { sinksPath } from './state.ts'
import { actionOf, matchOf, ownerDifference, reportDuplicates, type Planning, type Step } from './step.ts'

type SinkConfig = Readonly<Record<string, unknown>>
type Leaves = ReadonlyMap<string, unknown>
type Configured = { readonly config: SinkConfig }

export function planSinks(planning: Planning): Step[] {
  const entries = planning.resources.export_sinks
  const planned = entries.flatMap((entry) => planSink(planning, entry).map((step) => ({ entry, step })))
  reportDuplicates(
    planning,
    planned.map(({ entry, step: { id, name } }) => ({ entry, id, name: [name] })),
  )
  return planned.map(({ step }) => step)
}

function planSink(planning: Planning, entry: Located<SinkFileEntry>): Step[] {
  const { sinks } = planning.state
  const { type, id, label = '', enabled = true } = entry.value
  const kind = sinkFileKind(type)
  if (!kind) {
    planning.report(entry, { path: ['type'], message: `type: must be one of ${sinkTypeNames.join(', ')}` })
    return []
  }
  if (id === undefined && label === '')
    planning.report(entry, { path: ['label'], message: 'label: is required, because it identifies the sink' })
  const current = matchOf(planning, entry, {
    kind: 'export sink',
    all: sinks,
    entries: planning.resources.export_sinks,
    named: (candidates) => candidates.filter((sink) => sink.label === label),
  })
  if (current && current.type !== type)
    planning.report(entry, {
      path: ['type'],
      message: `type: cannot be changed from ${current.type}; use another label`,
    })
  return [stepOf(planning, entry, { kind, current, fields: { label, enabled } })]
}

type Target = {
  readonly kind: SinkFileKind
  readonly current: ExportBody | undefined
  readonly fields: { readonly label: string; readonly enabled: boolean }
}

function stepOf(planning: Planning, entry: Located<SinkFileEntry>, { kind, current, fields }: Target): Step {
  const { type, start } = entry.value
  const shown = shownConfig(planning, entry, kind)
  const secrets = kind.secretFields.filter((field) => leavesOf(entry.value.config).has(field))
  const before = current && { label: current.label, enabled: current.enabled, config: withoutSecrets(current, kind) }
  const config = kind.completed(shown, current?.config ?? {})
  const own = leafDifferences(before ?? {}, { ...fields, config })
  const isMoved = own.some(({ field }) => kind.destinationFields.includes(field.replace(/^config\./, '')))
  const stored = leavesOf(current?.config ?? {})
  const sent = secrets.filter((field) => !stored.has(field) || isMoved || planning.updatesSecrets)
  const removed = current ? kind.secretFields.filter((field) => stored.has(field) && !secrets.includes(field)) : []
  const others = [
    ...own,
    ...sent.map((field) => ({ field: `config.${field}`, before: undefined, after: '(secret)' })),
    ...removed.map((field) => ({ field: `config.${field}`, before: '(secret)', after: undefined })),
  ]
  const differences = [...others, ...ownerDifference(planning, entry, { current, others })]
  const values = (): Leaves => new Map(sent.map((field) => [field, secretValue(planning, entry, field)]))
  const run: Step['run'] = async (client) => {
    if (!current) {
      const body = { type, ...fields, config: withLeaves(config, values()), ...(start && { start }) }
      return { id: (await client.post<{ export: ExportBody }>(sinksPath, body)).export.id }
    }
    const gone = [...stored.keys()].filter((field) => !leavesOf(config).has(field) && !secrets.includes(field))
    const patch = withLeaves(withLeaves(config, new Map(gone.map((field) => [field, null]))), values())
    await client.request('PATCH', apiPath`/api/policy-gateway/exports/${current.id}`, {
      body: { ...fields, config: patch },
    })
    return { id: current.id }
  }
  const action = actionOf(current, differences)
  return {
    kind: 'export sink',
    name: fields.label,
    id: current?.id,
    action,
    differences,
    prepare: () => void values(),
    run,
  }
}

/** The configuration of the file without its secrets. Reports what is wrong with it. */
export function shownConfig(
  planning: Planning,
  entry: Located<Configured>,
  kind: Omit<SinkFileKind, 'destinationFields'>,
): SinkConfig {
  const { config } = entry.value
  const report = (field: string, message: string): void =>
    planning.report(entry, { path: ['config', ...field.split('.')], message: `config.${field}: ${message}` })
  const secrets = new Set(kind.secretFields.filter((field) => leavesOf(config).has(field)))
  for (const field of secrets) {
    const value = leavesOf(config).get(field)
    if (typeof value !== 'string' || !isReference(value))
      report(field, 'is a secret: write ${NAME} for an environment variable or ${file:PATH}, not the secret itself')
  }
  const tried = withLeaves(config, new Map([...secrets].map((field) => [field, 'x'.repeat(36)])))
  // The format of a secret is checked by the service, because the plan does not read secrets.
  for (const { path, message } of kind.problemsOf(kind.completed(tried, {})))
    if (!secrets.has(path.join('.')))
      planning.report(entry, { path: ['config', ...path], message: `config.${message}` })
  return withLeaves(config, new Map([...secrets].map((field) => [field, undefined])))
}

/** The value that the reference in a secret field stands for. All other fields are taken literally, because tenants write them too. */
export function secretValue({ env }: Planning, entry: Located<Configured>, field: string): string {
  const text = String(leavesOf(entry.value.config).get(field))
  try {
    return resolveReferences(text, { env, file: entry.file, field: `config.${field}` })
  } catch (error) {
    throw new Error(`${entry.at(['config', ...field.split('.')])}: ${messageOf(error)}.`, { cause: error })
  }
}

export const withoutSecrets = (
  { config }: Configured,
  { secretFields }: Pick<SinkFileKind, 'secretFields'>,
): SinkConfig => withLeaves(config, new Map(secretFields.map((field) => [field, undefined])))

/** The document with these values at dotted paths; undefined removes a field. */
export function withLeaves(document: object, leaves: Leaves): Record<string, unknown> {
  return [...leaves].reduce<Record<string, unknown>>(
    (result, [field, value]) => withLeaf(result, field.split('.'), value),
    { ...document },
  )
}

function withLeaf(
  document: Record<string, unknown>,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): Record<string, unknown> {
  const { [name]: before, ...others } = document
  if (rest.length === 0) return value === undefined ? others : { ...document, [name]: value }
  if (value === undefined && !isRecord(before)) return document
  return { ...document, [name]: withLeaf(isRecord(before) ? before : {}, rest, value) }
}
