import type { Clock } from '../../../base/clock.ts'
import { Fault } from '../../../base/fault.ts'
import type { Ids } from '../../../base/ids.ts'
import { changedValues, type AuditKind, type WithAuditRecord } from '../../mutations/audit-log.ts'
import type { ConfigProblem, FindSinkAddressProblem, SinkAddress, SinkKind } from './sink.ts'
import {
  changedFields,
  isMask,
  merged,
  secretsIn,
  valueAt,
  withMasks,
  withoutMasks,
  withValues,
  type Configuration,
  type Secrets,
} from './configuration.ts'
import type { ExportSink, ExportStore, SinkStart, WatchedSink } from './export-sink.ts'

/** The part of a sink kind that administration uses. */
export type ExportKind = Pick<
  SinkKind<never>,
  'type' | 'secretFields' | 'destinationFields' | 'addressesIn' | 'problemsOf' | 'completed'
>

export type ExportParts = {
  readonly kinds: readonly ExportKind[]
  readonly findAddressProblem: FindSinkAddressProblem
  readonly ids: Ids
  readonly clock: Clock
}

export type NewSink = {
  readonly type: string
  readonly label: string
  readonly enabled: boolean
  readonly config: Configuration
  readonly start: SinkStart
}

export type SinkPatch = Partial<Pick<NewSink, 'type' | 'label' | 'enabled' | 'config'>>

/** The result of `newAddressProblems` or `changedAddressProblems` for the same input. */
type AddressChecked = { readonly addressProblems: readonly ConfigProblem[] }

export type SinkAdministration = ReturnType<typeof createSinkAdministration>

/** Bounds the share of the senders that one organization can take. */
const maxSinks = 50

/**
 * Every mutation of a sink. Each runs inside the caller's transaction and returns the audit record that belongs to it.
 * Addresses are checked before the transaction, because names are resolved by the network.
 */
export function createSinkAdministration({ kinds, findAddressProblem, ids, clock }: ExportParts) {
  const findKind = (type: string): ExportKind | undefined => kinds.find((each) => each.type === type)

  const kindOf = (type: string): ExportKind => {
    const kind = findKind(type)
    if (!kind) throw invalid('type', `must be one of ${kinds.map((each) => each.type).join(', ')}`)
    return kind
  }

  const makeId = (): string => ids('gatehouse')

  const problemsAt = (addresses: readonly SinkAddress[]) => problemsOf(addresses, findAddressProblem)

  return {
    /** Problems of the addresses of a new sink. */
    newAddressProblems: ({ type, config }: Pick<NewSink, 'type' | 'config'>): Promise<readonly ConfigProblem[]> =>
      problemsAt(findKind(type)?.addressesIn(config) ?? []),

    /** Problems of the addresses that a patch changes. Other patches of a sink stay possible, whatever its address is. */
    async changedAddressProblems(store: ExportStore, at: SinkAt, patch: SinkPatch): Promise<readonly ConfigProblem[]> {
      if (!patch.config) return []
      const sink = await store.find(at.organizationId, at.id)
      const kind = sink && findKind(sink.type)
      if (!kind) return []
      const before = new Set(kind.addressesIn(sink.config).map(({ url }) => url.href))
      const after = kind.addressesIn(merged(sink.config, patch.config))
      return problemsAt(after.filter(({ url }) => !before.has(url.href)))
    },

    async create(
      store: ExportStore,
      organizationId: string,
      input: NewSink & AddressChecked,
    ): Promise<WithAuditRecord<WatchedSink>> {
      const kind = kindOf(input.type)
      const { addressProblems } = input
      const config = complete(kind, { config: input.config, before: {}, makeId, addressProblems })
      if ((await store.count(organizationId)) >= maxSinks) {
        throw new Fault('conflict', 'sink_limit_reached', `An organization may have ${maxSinks} export sinks.`)
      }
      const nowMs = clock.nowMs()
      const secrets = secretsIn(config, kind.secretFields)
      const { type, label, enabled } = input
      const masked = withMasks(config, secrets)
      const times = { createdAtMs: nowMs, updatedAtMs: nowMs }
      const sink: ExportSink = {
        id: ids('sink'),
        organizationId,
        type,
        label,
        enabled,
        config: masked,
        version: 1,
        ...times,
      }
      await store.insert(sink, secrets, input.start)
      return withRecord('export_sink.created', await findSink(store, sink), { type, label, enabled, config: masked })
    },

    async update(
      store: ExportStore,
      at: SinkAt,
      { addressProblems, ...patch }: SinkPatch & AddressChecked,
    ): Promise<WithAuditRecord<WatchedSink>> {
      const sink = await findSink(store, at)
      if (patch.type !== undefined && patch.type !== sink.type) throw invalid('type', 'cannot be changed')
      const kind = kindOf(sink.type)
      const secretsBefore = await store.secretsOf(sink)
      const before = withValues(sink.config, secretsBefore)
      const change = withoutMasks(patch.config ?? {}, sink.config, kind.secretFields)
      const config = complete(kind, { config: merged(before, change), before, makeId, addressProblems })
      requireSecretsAgain(kind, { before, change, after: config })
      const secrets = secretsIn(config, kind.secretFields)
      const after: ExportSink = {
        ...sink,
        label: patch.label ?? sink.label,
        enabled: patch.enabled ?? sink.enabled,
        config: withMasks(config, secrets),
        version: sink.version + 1,
        updatedAtMs: clock.nowMs(),
      }
      if (!(await store.replace(after, secrets))) throw changedMeanwhile(sink.id)
      return withRecord('export_sink.updated', await findSink(store, at), {
        ...differences(sink, after),
        ...changedSecrets(secretsBefore, secrets),
      })
    },

    async remove(store: ExportStore, at: SinkAt): Promise<WithAuditRecord<ExportSink>> {
      const sink = await findSink(store, at)
      if (!(await store.remove(sink, clock.nowMs()))) throw changedMeanwhile(sink.id)
      return withRecord('export_sink.deleted', sink, { type: sink.type, label: sink.label })
    },

    async replay(
      store: ExportStore,
      at: SinkAt,
      events?: readonly string[],
    ): Promise<WithAuditRecord<{ replayed: number }>> {
      const sink = await findSink(store, at)
      const replayed = await store.replay(sink, events)
      if (replayed === 0) return { value: { replayed } }
      return { ...withRecord('export_sink.replayed', sink, { replayed }), value: { replayed } }
    },
  }
}

async function problemsOf(
  addresses: readonly SinkAddress[],
  findProblem: FindSinkAddressProblem,
): Promise<readonly ConfigProblem[]> {
  const find = async ({ path, url }: SinkAddress): Promise<ConfigProblem[]> => {
    const message = await findProblem(url)
    return message === undefined ? [] : [{ path, message }]
  }
  return (await Promise.all(addresses.map(find))).flat()
}

export type SinkAt = { readonly organizationId: string; readonly id: string }

/** Finds a sink. The error is the same for an unknown id, a deleted sink and one of another organization. */
export async function findSink(store: ExportStore, { organizationId, id }: SinkAt): Promise<WatchedSink> {
  const sink = await store.find(organizationId, id)
  if (!sink) throw new Fault('not_found', 'not_found', `There is no export sink ${id}.`)
  return sink
}

type Change = { readonly before: Configuration; readonly change: Configuration; readonly after: Configuration }

/**
 * A change of the destination requires the secrets again. Otherwise an administrator who cannot read a token could send
 * it to a host of their own.
 */
function requireSecretsAgain(kind: ExportKind, { before, change, after }: Change): void {
  const [moved] = changedFields(before, after, kind.destinationFields)
  const isKept = (field: string): boolean => valueAt(after, field) !== undefined && valueAt(change, field) === undefined
  const kept = kind.secretFields.find(isKept)
  if (moved === undefined || kept === undefined) return
  throw invalid(`config.${kept}`, `must be sent again, since ${moved} was changed`)
}

type Draft = AddressChecked & {
  readonly config: Configuration
  readonly before: Configuration
  readonly makeId: () => string
}

/** The configuration with generated fields, validated. */
function complete(kind: ExportKind, { config, before, makeId, addressProblems }: Draft): Configuration {
  const completed = kind.completed?.(config, before, makeId) ?? config
  const masked = kind.secretFields.find((field) => isMask(valueAt(completed, field)))
  if (masked !== undefined) throw invalid(`config.${masked}`, 'is the mask of another secret; send the secret itself')
  const [problem] = [...kind.problemsOf(completed), ...addressProblems]
  if (problem) throw problemFault(problem)
  return completed
}

const problemFault = ({ path, message }: ConfigProblem): Fault =>
  invalid(path === '' ? 'config' : `config.${path}`, message)

const invalid = (param: string, message: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${message}.`, { param })

const changedMeanwhile = (id: string): Fault =>
  new Fault('conflict', 'invalid_state', `The export sink ${id} was changed at the same time; send the request again.`)

const withRecord = <S extends ExportSink>(
  kind: AuditKind,
  sink: S,
  details: Readonly<Record<string, unknown>>,
): WithAuditRecord<S> => ({
  value: sink,
  record: { kind, resourceId: sink.id, details },
})

/** The fields whose value changed, and their values before. */
function differences(before: ExportSink, after: ExportSink): Record<string, unknown> {
  const audited = ({ label, enabled, config }: ExportSink) => ({ label, enabled, config })
  return changedValues(audited(before), audited(after))
}

/** Names of the secrets that changed. Their masks can be equal, so `differences` does not show them. */
function changedSecrets(before: Secrets, after: Secrets): { secrets?: readonly string[] } {
  const fields = Object.keys({ ...before, ...after }).filter((field) => before[field] !== after[field])
  return fields.length === 0 ? {} : { secrets: fields }
}
