import type { ApiClient } from '../../app/client/api-client.ts'
import type { FileProblem } from '../../app/client/file-problems.ts'
import type { LimitsBodyValues } from '../../app/client/resource-files.ts'
import type { Environment } from '../../config/config.ts'
import { leafDiffLines } from '../leaf-diff.ts'
import type { FieldDifference } from '../policies/diff.ts'
import { oneLine } from '../table.ts'
import { FileErrors, type Located, type Resources } from './files.ts'
import { overridesPath, type State } from './state.ts'

export type ResourceKind =
  | 'organization'
  | 'project'
  | 'API key'
  | 'administrator key'
  | 'export sink'
  | 'upstream'
  | 'model'
  | 'judge'
  | 'budget'
  | 'alert channel'
  | 'alert rule'
  | 'gateway configuration'
  | 'publish gate'
  | 'policy'

/** The change of one resource. */
export type Step = {
  readonly kind: ResourceKind
  readonly name: string
  readonly id?: string | undefined
  readonly action: 'create' | 'update' | 'delete' | 'keep'
  /** In place of the action in the plan: `create and publish`. */
  readonly verb?: string
  readonly differences: readonly FieldDifference[]
  /** The differences as text, where the kind has a format of its own. */
  readonly lines?: readonly string[]
  /** What must be there before the first change, such as the secrets of a sink. Throws a message. */
  readonly prepare?: () => void
  readonly run: (client: ApiClient, keep: KeepSecret) => Promise<Outcome>
}

type Outcome = { readonly id: string; readonly warnings?: readonly string[] }

/** A key that was created, with its secret, which is not shown again. */
export type IssuedSecret = {
  readonly id: string
  readonly name: string
  readonly project?: string
  readonly value: string
}

/** Called as soon as a key exists, because a later request of the same step can fail. */
type KeepSecret = (secret: IssuedSecret) => void

/** What every kind of resource is planned from. */
export type Planning = {
  readonly resources: Resources
  readonly state: State
  readonly client: ApiClient
  readonly env: Environment
  /** Whether resources of other owners become resources of these files. */
  readonly isTakeOver: boolean
  /** Why policies are published past the publish gate. */
  readonly gateOverride: string | undefined
  /** Whether the secrets of existing sinks and upstreams are sent again. */
  readonly updatesSecrets: boolean
  /** Reports a mistake in the files. The plan fails after all of them are known. */
  readonly report: (entry: Located<unknown>, problem: FileProblem) => void
}

export type Problems = { readonly report: Planning['report']; readonly throwIfAny: () => void }

export function createProblems(): Problems {
  const lines: string[] = []
  return {
    report: (entry, { path, message }) => void lines.push(`${entry.at(path)}: ${message.replace(/\.?$/, '.')}`),
    throwIfAny() {
      if (lines.length > 0) throw new FileErrors(lines)
    },
  }
}

type Named = { readonly id?: string; readonly name?: string | undefined; readonly label?: string | undefined }

type Candidates<T> = {
  readonly kind: ResourceKind
  readonly all: readonly T[]
  /** All entries of the kind. A resource whose id one of them has is not meant by the name of another. */
  readonly entries: readonly Located<Named>[]
  /** Those that the name of the entry means. */
  readonly named: (candidates: readonly T[]) => readonly T[]
}

/** The resource that an entry describes: by its id, else the only one with its name. */
export function matchOf<T extends { readonly id: string }>(
  { report }: Planning,
  entry: Located<Named>,
  { kind, all, entries, named: meant }: Candidates<T>,
): T | undefined {
  const { id } = entry.value
  const match = all.find((each) => each.id === id)
  if (id !== undefined && !match) report(entry, { path: ['id'], message: `id: there is no ${kind} ${id}` })
  if (id !== undefined) return match
  const described = new Set(entries.map(({ value }) => value.id))
  const named = meant(all.filter((each) => !described.has(each.id)))
  if (named.length > 1) {
    const ids = named.map((each) => each.id).join(', ')
    report(entry, { path: ['name'], message: `${named.length} resources have this name (${ids}); add the id of one` })
  }
  return named[0]
}

/** An entry, and the id of the resource that it describes. For a new one: its name, and the project of a key. */
type Described = {
  readonly entry: Located<unknown>
  readonly id: string | undefined
  readonly name: readonly string[]
}

/** Reports entries that describe the same resource. */
export function reportDuplicates({ report }: Planning, described: readonly Described[]): void {
  const seen = new Map<string, Located<unknown>>()
  for (const { entry, id, name } of described) {
    const key = id ?? JSON.stringify(name)
    const first = seen.get(key)
    if (first) report(entry, { path: [], message: `the same resource is described in ${first.at()}` })
    else seen.set(key, entry)
  }
}

type Owned = { readonly managed_by?: string }

/**
 * The difference of the owner of an existing resource, after its other differences. Files without an owner leave it as it is.
 * Reports a resource that other files manage.
 */
export function ownerDifference(
  { resources, isTakeOver, report }: Planning,
  entry: Located<unknown>,
  { current, others }: { readonly current: Owned | undefined; readonly others: readonly FieldDifference[] },
): FieldDifference[] {
  const { managed_by: before } = current ?? {}
  const after = resources.owner?.value
  if (!current || before === after || (after === undefined && others.length === 0)) return []
  if (before !== undefined && (after === undefined || !isTakeOver)) {
    const message = `${before} manages this resource: change it there, or take it over with an owner and --take-over`
    report(entry, { path: [], message })
  }
  return after === undefined ? [] : [{ field: 'managed_by', before, after }]
}

/** The client whose changes name the owner of the files. */
export function claimingClient(client: ApiClient, { resources: { owner }, isTakeOver }: Claims): ApiClient {
  if (!owner) return client
  const own = { 'x-gatehouse-managed-by': owner.value, ...(isTakeOver && { 'x-gatehouse-take-over': 'true' }) }
  const request: ApiClient['request'] = (method, path, options = {}) =>
    client.request(method, path, { ...options, headers: { ...options.headers, ...own } })
  return {
    ...client,
    request,
    post: async <T>(path: string, body?: object) =>
      (await request<T>('POST', path, body === undefined ? {} : { body })).body,
  }
}

type Claims = Pick<Planning, 'resources' | 'isTakeOver'>

/** `keep` if nothing differs. */
export const actionOf = (current: unknown, differences: readonly FieldDifference[]): Step['action'] =>
  current === undefined ? 'create' : differences.length === 0 ? 'keep' : 'update'

export const isIdle = ({ action }: Step): boolean => action === 'keep'

/** Lists whose order has no meaning are compared sorted. */
export const asSet = (list: readonly string[]): string[] => [...new Set(list)].toSorted()

type Subject = { readonly project_id: string } | { readonly api_key_id: string } | Record<string, never>

/** Replaces the limits of a project, a key or the organization; without limits, those of the tier apply again. */
export async function setLimits(client: ApiClient, subject: Subject, limits: LimitsBodyValues = {}): Promise<void> {
  await client.request('PUT', overridesPath, { body: { ...subject, limits } })
}

export const hasChanged = ({ differences }: Pick<Step, 'differences'>, field: string): boolean =>
  differences.some((each) => each.field === field || each.field.startsWith(`${field}.`))

/** The plan as text: what is created, changed and deleted. */
export function planText(steps: readonly Step[]): string {
  const count = (action: Step['action']): number => steps.filter((step) => step.action === action).length
  const deleted = count('delete')
  const counts = [
    `${count('create')} to create`,
    `${count('update')} to change`,
    ...(deleted === 0 ? [] : [`${deleted} to delete`]),
    `${count('keep')} unchanged`,
  ]
  return [...steps.filter((step) => !isIdle(step)).flatMap(stepLines), `Plan: ${counts.join(', ')}.`].join('\n')
}

function stepLines({ kind, name, id, action, verb, differences, lines }: Step): string[] {
  const title = `${verb ?? action} ${[kind, name].filter((word) => word !== '').join(' ')}${id === undefined ? '' : ` (${id})`}`
  return [title, ...(lines ?? leafDiffLines(differences)).map((line) => `    ${line}`)].map(oneLine)
}

/** The plan for scripts. */
export const planJson = (steps: readonly Step[]) => ({
  changes: steps
    .filter((step) => !isIdle(step))
    .map(({ kind, name, id, action, differences }) => ({
      kind,
      name,
      id: id ?? null,
      action,
      differences: differences.map(({ field, before = null, after = null }) => ({ field, before, after })),
    })),
  unchanged: steps.filter(isIdle).length,
})
