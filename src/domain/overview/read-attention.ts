import { dayMs, minuteMs } from '../../base/clock.ts'
import type { AppealStore } from '../appeals/appeal.ts'
import type { ExportStore } from '../audit/export/export-sink.ts'
import type { AuditReads } from '../audit/log.ts'
import type { GatewayStore } from '../gateway-config/store.ts'
import { gatewaySubject } from '../evaluation/spikes/counted-decisions.ts'
import type { ReportedSpike, ReportedSpikes } from '../evaluation/spikes/decision-counts.ts'
import { dayMinutes, minuteOf } from '../evaluation/spikes/spike.ts'
import type { ExceptionStore, PolicyException } from '../exceptions/exception.ts'
import type { SavedConfiguration } from '../gateway-config/configuration.ts'
import type { DirectoryStore } from '../identity/store.ts'
import type { JudgeStore } from '../judges/judge.ts'
import type { JudgeAlarmStore } from '../judges/alarms.ts'
import type { PolicySummary } from '../policy/policy.ts'
import { isEvaluable } from '../policy/rule.ts'
import type { PolicyStore } from '../policy/store.ts'
import {
  exceptionEndsSoonMs,
  expiresSoonMs,
  type AttentionFacts,
  type EndingException,
  type PausedPolicy,
  type RecentSpike,
} from './attention.ts'

export type AttentionStores = {
  readonly policies: Pick<PolicyStore, 'find' | 'list' | 'listInForce'>
  readonly spikes: Pick<ReportedSpikes, 'recent'>
  readonly events: Pick<AuditReads, 'list'>
  readonly gateway: Pick<GatewayStore, 'find'>
  readonly exports: Pick<ExportStore, 'list'>
  readonly directory: Pick<DirectoryStore, 'listProjectKeys' | 'listAdminKeys'>
  readonly appeals: Pick<AppealStore, 'closedSince' | 'countOpen'>
  readonly judges: Pick<JudgeStore, 'inForce'>
  readonly judgeAlarms: Pick<JudgeAlarmStore, 'open'>
  readonly exceptions: Pick<ExceptionStore, 'listLive'>
}

type ReadOptions = {
  readonly organizationId: string
  readonly nowMs: number
  readonly hasJudge: boolean
  /** Keys that expire within this time; by default those of the attention list. */
  readonly expiresWithinMs?: number
  /** Spikes that lasted until this long ago; by default a day. */
  readonly spikeMinutes?: number
}

/** How far back closed appeals count. */
const appealsMs = 30 * dayMs

const page = { limit: 20, order: 'desc' } as const

/** The facts that attention is made from. The caller adds the spend, which it shows as well, the use of keys, and the upstreams of its node. */
export async function readAttentionFacts(
  stores: AttentionStores,
  { organizationId, nowMs, hasJudge, expiresWithinMs = expiresSoonMs, spikeMinutes = dayMinutes }: ReadOptions,
): Promise<Omit<AttentionFacts, 'spend' | 'upstreams' | 'keyUse'>> {
  const { policies, spikes, gateway, exports, directory, appeals } = stores
  const expiring = { ...page, status: { is: 'active', nowMs }, expiresBeforeMs: nowMs + expiresWithinMs } as const
  const isJudged = hasJudge || (await stores.judges.inForce(organizationId)).active !== undefined
  const [
    paused,
    reported,
    inForce,
    configuration,
    sinks,
    apiKeys,
    adminKeys,
    closed,
    openAppeals,
    judgeAlarms,
    exceptions,
  ] = await Promise.all([
    policies.list(organizationId, { ...page, state: 'paused' }),
    spikes.recent(organizationId, minuteOf(nowMs) - spikeMinutes),
    isJudged ? [] : policies.listInForce(organizationId),
    gateway.find(organizationId),
    exports.list(organizationId, { ...page, limit: 100 }),
    directory.listProjectKeys(organizationId, expiring),
    directory.listAdminKeys(organizationId, expiring),
    appeals.closedSince(organizationId, nowMs - appealsMs),
    appeals.countOpen(organizationId, nowMs),
    stores.judgeAlarms.open(organizationId),
    stores.exceptions.listLive(organizationId, nowMs),
  ])
  const ending = exceptions.filter(({ expiresAtMs }) => expiresAtMs <= nowMs + exceptionEndsSoonMs)
  return {
    nowMs,
    pausedPolicies: await Promise.all(paused.items.map((policy) => pausedPolicy(stores, policy))),
    recentSpikes: await recentSpikes(reported, { organizationId, policies, configuration }),
    unjudgedPolicies: inForce.filter(({ published }) => published !== null && !isEvaluable(published.rule)),
    judgeAlarms,
    endingExceptions: (await withNames(ending.slice(0, page.limit), { organizationId, policies })).map(endingException),
    configuration,
    sinks: sinks.items,
    expiringKeys: [...apiKeys.items, ...adminKeys.items],
    closedAppeals: await withNames(closed, { organizationId, policies }),
    openAppeals,
  }
}

const endingException = ({ policyId: id, name, subject, expiresAtMs }: PolicyException & Named): EndingException => ({
  policy: { id, name },
  subject,
  expiresAtMs,
})

type Named = Pick<PolicySummary, 'name'>

/** With the names of their policies, and without those of policies that were deleted. */
async function withNames<T extends { readonly policyId: string }>(
  all: readonly T[],
  { organizationId, policies }: Pick<AttentionStores, 'policies'> & Pick<ReadOptions, 'organizationId'>,
): Promise<readonly (T & Named)[]> {
  const named = await Promise.all(
    all.map(async (one) => {
      const policy = await policies.find(organizationId, one.policyId)
      return policy && { ...one, name: policy.name }
    }),
  )
  return named.filter((one) => one !== undefined)
}

type InForce = Pick<AttentionStores, 'policies'> & {
  readonly organizationId: string
  readonly configuration: SavedConfiguration | undefined
}

/** Without those of versions that are paused, replaced or deleted since. */
async function recentSpikes(reported: readonly ReportedSpike[], inForce: InForce): Promise<RecentSpike[]> {
  const found = await Promise.all(reported.map((spike) => recentSpike(spike, inForce)))
  return found.filter((spike) => spike !== undefined)
}

async function recentSpike(
  { subject, version, firstMinute }: ReportedSpike,
  { organizationId, policies, configuration }: InForce,
): Promise<RecentSpike | undefined> {
  const sinceMs = firstMinute * minuteMs
  if (subject === gatewaySubject)
    return configuration?.version === version && !configuration.isRolledBack
      ? { policy: undefined, sinceMs }
      : undefined
  const policy = await policies.find(organizationId, subject)
  return policy?.state === 'enforcing' && policy.published?.version === version ? { policy, sinceMs } : undefined
}

/** The event of a pause by a person names a credential; that of the service names none. */
async function pausedPolicy(
  { events }: Pick<AttentionStores, 'events'>,
  { organizationId, id, name, updatedAtMs }: PolicySummary,
): Promise<PausedPolicy> {
  const pauses = { code: 'policy.paused', policyId: id, withoutRequests: true }
  const { items } = await events.list(organizationId, pauses, { limit: 1, order: 'desc' })
  const pause = items[0]?.document
  const isBySpike = pause !== undefined && pause.actor.session?.credential_uid === undefined
  return { id, name, sinceMs: pause?.time ?? updatedAtMs, isBySpike }
}
