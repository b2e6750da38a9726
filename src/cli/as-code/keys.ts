import { apiPath, type ApiClient } from '../../app/client/api-client.ts'
import type { AdminKeyBody, CreatedKeyBody } from '../../http/admin/operator-keys.ts'
import type { ProjectKeyBody } from '../../http/admin/api-keys/schema.ts'
import {
  normalisedIps,
  rolePermissions,
  type AdminKeyFileEntry,
  type ApiKeyFileEntry,
} from '../../app/client/resource-files.ts'
import { leafDifferences } from '../leaf-diff.ts'
import type { FieldDifference } from '../policies/diff.ts'
import type { Located } from './files.ts'
import type { PlannedProject, PlannedProjects } from './projects.ts'
import { adminKeysPath, isWorking } from './state.ts'
import {
  actionOf,
  asSet,
  hasChanged,
  matchOf,
  ownerDifference,
  reportDuplicates,
  setLimits,
  type Planning,
  type Step,
} from './step.ts'

/** The fields of a key that files describe, in one form for the file and for the stored key. */
type KeyFields = {
  readonly name: string
  readonly permissions: readonly string[]
  readonly models?: readonly string[] | undefined
  readonly expires_at?: string | undefined
  readonly allowed_ips?: readonly string[] | undefined
}

export function planApiKeys(planning: Planning, projects: PlannedProjects): Step[] {
  const entries = planning.resources.api_keys
  const planned = entries.flatMap((entry) => {
    const project = projects.find(entry, { path: ['project'], field: 'project', project: entry.value.project })
    return project ? [{ entry, project, step: planApiKey(planning, entry, project) }] : []
  })
  reportDuplicates(
    planning,
    planned.map(({ entry, project, step }) => ({ entry, id: step.id, name: [project.id ?? project.name, step.name] })),
  )
  return planned.map(({ step }) => step)
}

function planApiKey(planning: Planning, entry: Located<ApiKeyFileEntry>, project: PlannedProject): Step {
  const { apiKeys, limitsOf } = planning.state
  const { name, models, limits = {} } = entry.value
  const ofProject = apiKeys.filter((key) => key.project_id === project.id)
  const target = { ...fieldsOf(planning, entry), ...(models && { models: asSet(models) }) }
  const current = matchOf(planning, entry, {
    kind: 'API key',
    all: ofProject,
    entries: planning.resources.api_keys,
    named: (candidates) => namedKeys(planning, candidates, target),
  })
  reportPastEnd(planning, entry, { current, target })
  if (!current && project.isArchived)
    planning.report(entry, { path: ['project'], message: `project: ${project.name} is archived; add it to projects` })
  const before = current && { ...storedFields(current), limits: limitsOf(current.id) ?? {} }
  const others = leafDifferences(before ?? {}, { ...target, limits })
  const differences = [...others, ...ownerDifference(planning, entry, { current, others })]
  const run: Step['run'] = async (client, keep) => {
    const keys = apiPath`/v1/organization/projects/${project.id ?? ''}/api_keys`
    const created = current ? undefined : await client.post<CreatedKeyBody>(keys, bodyOf(target))
    if (created) keep({ id: created.id, name, project: project.name, value: created.value })
    if (current) await update({ client, path: `${keys}/${current.id}`, differences, target })
    const id = created?.id ?? current?.id ?? ''
    if (hasChanged({ differences }, 'limits')) await setLimits(client, { api_key_id: id }, limits)
    return { id }
  }
  return { kind: 'API key', name, id: current?.id, action: actionOf(current, differences), differences, run }
}

export function planAdminKeys(planning: Planning): Step[] {
  const entries = planning.resources.admin_api_keys
  const planned = entries.map((entry) => ({ entry, step: planAdminKey(planning, entry) }))
  reportDuplicates(
    planning,
    planned.map(({ entry, step: { id, name } }) => ({ entry, id, name: [name] })),
  )
  return planned.map(({ step }) => step)
}

function planAdminKey(planning: Planning, entry: Located<AdminKeyFileEntry>): Step {
  const { adminKeys } = planning.state
  const { name, permissions, role } = entry.value
  if ((permissions === undefined) === (role === undefined))
    planning.report(entry, { path: ['permissions'], message: 'write either permissions or role' })
  const target = fieldsOf(planning, entry)
  const current = matchOf(planning, entry, {
    kind: 'administrator key',
    all: adminKeys,
    entries: planning.resources.admin_api_keys,
    named: (candidates) => namedKeys(planning, candidates, target),
  })
  reportPastEnd(planning, entry, { current, target })
  const others = leafDifferences(current ? storedFields(current) : {}, target)
  const differences = [...others, ...ownerDifference(planning, entry, { current, others })]
  const run: Step['run'] = async (client, keep) => {
    if (current) {
      await update({ client, path: `${adminKeysPath}/${current.id}`, differences, target })
      return { id: current.id }
    }
    const { id, value } = await client.post<CreatedKeyBody>(adminKeysPath, bodyOf(target))
    keep({ id, name, value })
    return { id }
  }
  return { kind: 'administrator key', name, id: current?.id, action: actionOf(current, differences), differences, run }
}

type Key = ProjectKeyBody | AdminKeyBody

/** The keys that a name means. An expired key is meant only by an entry with its end, so that no entry makes it work again. */
function namedKeys<T extends Key>({ state }: Planning, keys: readonly T[], { name, expires_at: end }: KeyFields): T[] {
  const named = keys.filter((key) => key.name === name)
  const working = named.filter((key) => isWorking(key, state.nowMs))
  return working.length > 0 ? working : named.filter((key) => storedFields(key).expires_at === end)
}

type Compared = { readonly current: Key | undefined; readonly target: KeyFields }

/** The service refuses a new end in the past. An export of an expired key describes it as it is. */
function reportPastEnd({ state, report }: Planning, entry: Located<unknown>, { current, target }: Compared): void {
  const { expires_at: end } = target
  if (end === undefined || Date.parse(end) > state.nowMs) return
  if (current && storedFields(current).expires_at === end) return
  report(entry, { path: ['expires_at'], message: `expires_at: ${end} is in the past` })
}

function fieldsOf(planning: Planning, entry: Located<ApiKeyFileEntry | AdminKeyFileEntry>): KeyFields {
  const { name, permissions, expires_at: end, allowed_ips: ips } = entry.value
  const role = 'role' in entry.value ? entry.value.role : undefined
  const networks = ips ? normalisedIps(ips) : undefined
  if (networks && 'problems' in networks) for (const problem of networks.problems) planning.report(entry, problem)
  const endSeconds = end === undefined ? undefined : secondsOf(end)
  if (end !== undefined && endSeconds === undefined)
    planning.report(entry, {
      path: ['expires_at'],
      message: `expires_at: ${end} is neither a date such as 2027-01-31 nor a time with its zone such as 2027-01-31T12:00:00Z`,
    })
  return {
    name,
    permissions: asSet(role === undefined ? (permissions ?? []) : rolePermissions(role)),
    ...(endSeconds !== undefined && { expires_at: isoOf(endSeconds) }),
    ...(networks && 'ips' in networks && { allowed_ips: asSet(networks.ips) }),
  }
}

const timePattern = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2}))?$/

/** Unix seconds; undefined for a text that is no time. `Date.parse` would accept a 30th of February. */
function secondsOf(text: string): number | undefined {
  const [, date] = timePattern.exec(text) ?? []
  const [ms, midnight] = [Date.parse(text), Date.parse(`${date}T00:00:00Z`)]
  if (Number.isNaN(ms) || Number.isNaN(midnight)) return undefined
  return new Date(midnight).toISOString().startsWith(`${date}T`) ? Math.floor(ms / 1000) : undefined
}

export const storedFields = (key: Key): KeyFields => ({
  name: key.name,
  permissions: asSet(key.permissions),
  ...('models' in key && key.models && { models: asSet(key.models) }),
  ...(key.expires_at !== undefined && { expires_at: isoOf(key.expires_at) }),
  ...(key.allowed_ips && { allowed_ips: asSet(key.allowed_ips) }),
})

const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')

/** The fields in the form of the API. */
const bodyOf = ({ expires_at: end, ...fields }: KeyFields): Record<string, unknown> => ({
  ...fields,
  ...(end !== undefined && { expires_at: Date.parse(end) / 1000 }),
})

type Update = {
  readonly client: ApiClient
  readonly path: string
  readonly differences: readonly FieldDifference[]
  readonly target: KeyFields
}

/** Sends the fields that differ; null removes a restriction. The name is sent too, because a body must not be empty. */
async function update({ client, path, differences, target }: Update): Promise<void> {
  const changed = differences.map(({ field }) => field).filter((field) => !field.startsWith('limits.'))
  if (changed.length === 0) return
  const values = bodyOf(target)
  const fields = changed.filter((field) => field !== 'managed_by').map((field) => [field, values[field] ?? null])
  await client.request('PATCH', path, { body: { name: target.name, ...Object.fromEntries(fields) } })
}
