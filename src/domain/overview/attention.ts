import { dayMs } from '../../base/clock.ts'
import { plural } from '../../base/plural.ts'
import type { ClosedAppeals } from '../appeals/appeal.ts'
import type { WatchedSink } from '../audit/export/export-sink.ts'
import type { ExceptionSubject } from '../exceptions/exception.ts'
import type { SavedConfiguration } from '../gateway-config/configuration.ts'
import type { AdminKey } from '../identity/principal.ts'
import type { Permission } from '../identity/permissions.ts'
import type { UpstreamStatus } from '../inference/upstream-status.ts'
import type { JudgeAlarm } from '../judges/drift.ts'
import type { Policy, PolicySummary } from '../policy/policy.ts'
import { nearPercent, type KeyUse } from './key-use.ts'
import type { Spend } from './overview.ts'

export type AttentionSeverity = 'info' | 'warning' | 'error'

/** What an item is about, and the permission that shows the object. */
const permissionOfKind = {
  policy_stopped_by_spike: 'policies:read',
  policy_denials_spiked: 'policies:read',
  policy_paused: 'policies:read',
  rule_not_judged: 'policies:read',
  exception_ending: 'policies:read',
  judge_drift: 'judges:read',
  gateway_rolled_back: 'gateway:read',
  gateway_denials_spiked: 'gateway:read',
  sink_failing: 'exports:read',
  dead_letters: 'exports:read',
  credit_low: 'usage:read',
  key_expiring: 'keys:read',
  key_near_limit: 'keys:read',
  upstream_resting: 'system:read',
  policy_overturned_often: 'reviews:read',
  appeals_open: 'reviews:read',
} as const satisfies Record<string, Permission>

export type AttentionKind = keyof typeof permissionOfKind
export const attentionKinds = Object.keys(permissionOfKind) as readonly AttentionKind[]

/** Something that needs a person. */
export type AttentionItem = {
  readonly kind: AttentionKind
  readonly severity: AttentionSeverity
  /** One sentence without a full stop. */
  readonly text: string
  /** The object that it is about. */
  readonly objectId: string | null
  readonly sinceMs: number | null
}

export type PausedPolicy = Pick<PolicySummary, 'id' | 'name'> & {
  readonly sinceMs: number
  /** The service paused it, because its denials spiked. */
  readonly isBySpike: boolean
}

/** A denial spike of what is still enforced. */
export type RecentSpike = {
  /** Undefined for the gateway configuration. */
  readonly policy: Pick<PolicySummary, 'id' | 'name'> | undefined
  readonly sinceMs: number
}

export type EndingException = {
  readonly policy: Pick<PolicySummary, 'id' | 'name'>
  readonly subject: ExceptionSubject
  readonly expiresAtMs: number
}

export type AttentionFacts = {
  readonly nowMs: number
  readonly pausedPolicies: readonly PausedPolicy[]
  readonly recentSpikes: readonly RecentSpike[]
  /** Policies in force whose rule nothing can evaluate. */
  readonly unjudgedPolicies: readonly Pick<Policy, 'id' | 'name' | 'updatedAtMs'>[]
  /** Signs that a judge no longer answers as it did. */
  readonly judgeAlarms: readonly JudgeAlarm[]
  /** Live exceptions that end soon. */
  readonly endingExceptions: readonly EndingException[]
  readonly configuration: Pick<SavedConfiguration, 'isRolledBack'> | undefined
  readonly sinks: readonly WatchedSink[]
  /** Keys of both kinds that work, and expire soon. */
  readonly expiringKeys: readonly Pick<AdminKey, 'id' | 'name' | 'expiresAtMs'>[]
  /** Keys at or near their limit of a day. */
  readonly keyUse: readonly KeyUse[]
  /** Of this node. */
  readonly upstreams: readonly Pick<UpstreamStatus, 'name' | 'state' | 'lastError'>[]
  readonly spend: Spend
  /** The closed appeals of the last 30 days, by policy. */
  readonly closedAppeals: readonly (ClosedAppeals & Pick<PolicySummary, 'name'>)[]
  readonly openAppeals: number
}

/** Exceptions that end within this time are shown. */
export const exceptionEndsSoonMs = 3 * dayMs

/** Keys that expire within this time are shown. */
export const expiresSoonMs = 7 * dayMs

/** What runs out within this many days needs a person now, so it is a warning. */
const fewDays = 3
const noTime = { objectId: null, sinceMs: null }

/** What needs a person and the caller may see, the worst first. */
export function attentionOf(facts: AttentionFacts, mayRead: (permission: Permission) => boolean): AttentionItem[] {
  const items = [
    ...facts.pausedPolicies.map(pausedItem),
    ...facts.recentSpikes.map(spikeItem),
    ...facts.unjudgedPolicies.map(unjudgedItem),
    ...facts.judgeAlarms.map(judgeItem),
    ...(facts.configuration?.isRolledBack === true ? [rolledBack] : []),
    ...facts.sinks.flatMap(sinkItems),
    ...creditItems(facts.spend),
    ...facts.upstreams.filter(({ state }) => state === 'resting').map(upstreamItem),
    ...facts.closedAppeals.filter(isOverturnedOften).map(overturnedItem),
    ...(facts.openAppeals > 0 ? [openAppealsItem(facts.openAppeals)] : []),
    ...facts.keyUse.map(keyUseItem),
    ...facts.expiringKeys.map((key) => keyItem(key, facts.nowMs)),
    ...facts.endingExceptions.map((exception) => exceptionItem(exception, facts.nowMs)),
  ]
  return items
    .filter(({ kind }) => mayRead(permissionOfKind[kind]))
    .sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
}

const severities: readonly AttentionSeverity[] = ['error', 'warning', 'info']

const pausedItem = ({ id, name, sinceMs, isBySpike }: PausedPolicy): AttentionItem =>
  isBySpike
    ? {
        kind: 'policy_stopped_by_spike',
        severity: 'error',
        text: `The policy ${name} was paused, because its denials rose sharply`,
        objectId: id,
        sinceMs,
      }
    : { kind: 'policy_paused', severity: 'info', text: `The policy ${name} is paused`, objectId: id, sinceMs }

const spikeItem = ({ policy, sinceMs }: RecentSpike): AttentionItem => {
  const what = policy === undefined ? 'gateway configuration' : `policy ${policy.name}`
  return {
    kind: policy === undefined ? 'gateway_denials_spiked' : 'policy_denials_spiked',
    severity: 'warning',
    text: `The denials of the ${what} rose sharply; it is still enforced`,
    objectId: policy?.id ?? null,
    sinceMs,
  }
}

const unjudgedItem = ({ id, name, updatedAtMs }: AttentionFacts['unjudgedPolicies'][number]): AttentionItem => ({
  kind: 'rule_not_judged',
  severity: 'warning',
  text: `Nothing evaluates the policy ${name}: its rule is in plain language, and no model judges it`,
  objectId: id,
  sinceMs: updatedAtMs,
})

const judgeItem = ({ judgeId, text, sinceMs }: JudgeAlarm): AttentionItem => ({
  kind: 'judge_drift',
  severity: 'warning',
  text: `A judge may judge differently than before: ${text.replace(/\.$/, '')}`,
  objectId: judgeId,
  sinceMs,
})

const rolledBack: AttentionItem = {
  kind: 'gateway_rolled_back',
  severity: 'error',
  text: 'The gateway configuration is off until the next save, because its denials rose sharply',
  ...noTime,
}

function sinkItems({ id, label, health }: WatchedSink): AttentionItem[] {
  const { state, lastError, lastErrorAtMs, deadLetters } = health
  const isFailing = state !== 'healthy' && state !== 'disabled'
  const needsPerson = state === 'auth_error' || state === 'config_error'
  const failing: AttentionItem = {
    kind: 'sink_failing',
    severity: needsPerson ? 'error' : 'warning',
    text: `The export ${label} is failing${lastError === null ? '' : `: ${lastError}`}`,
    objectId: id,
    sinceMs: lastErrorAtMs,
  }
  const dead: AttentionItem = {
    kind: 'dead_letters',
    severity: 'warning',
    text: `The export ${label} has ${plural(deadLetters, 'event')} that its destination rejected`,
    objectId: id,
    sinceMs: null,
  }
  return [...(isFailing ? [failing] : []), ...(deadLetters > 0 ? [dead] : [])]
}

function creditItems({ daysLeft, balanceUsd }: Spend): AttentionItem[] {
  if (balanceUsd === 0) return [{ kind: 'credit_low', severity: 'error', text: 'There is no credit left', ...noTime }]
  if (daysLeft === null || daysLeft >= fewDays) return []
  return [
    { kind: 'credit_low', severity: 'warning', text: `The credit lasts for ${daysLeft.toFixed(1)} days`, ...noTime },
  ]
}

const upstreamItem = ({ name, lastError }: AttentionFacts['upstreams'][number]): AttentionItem => ({
  kind: 'upstream_resting',
  severity: 'warning',
  text: `The upstream ${name} fails${lastError === null ? '' : ` with ${lastError.code}`}, and is skipped for some seconds`,
  objectId: name,
  sinceMs: lastError?.atMs ?? null,
})

function keyItem({ id, name, expiresAtMs }: AttentionFacts['expiringKeys'][number], nowMs: number): AttentionItem {
  const days = Math.max(0, Math.floor(((expiresAtMs ?? nowMs) - nowMs) / dayMs))
  return {
    kind: 'key_expiring',
    severity: days < fewDays ? 'warning' : 'info',
    text: `The key ${name} expires ${days === 0 ? 'within a day' : `in ${plural(days, 'day')}`}`,
    objectId: id,
    sinceMs: null,
  }
}

/** Its requests are denied again after its end, which is meant. On the last day somebody should look whether the reason is gone. */
function exceptionItem({ policy, subject, expiresAtMs }: EndingException, nowMs: number): AttentionItem {
  const days = Math.floor((expiresAtMs - nowMs) / dayMs)
  const whose = subject.kind === 'text' ? 'a text' : `the ${subject.kind} ${subject.id}`
  return {
    kind: 'exception_ending',
    severity: days === 0 ? 'warning' : 'info',
    text: `The exception of the policy ${policy.name} for ${whose} ends ${days === 0 ? 'within a day' : `in ${plural(days, 'day')}`}`,
    objectId: policy.id,
    sinceMs: null,
  }
}

/** A key that is not near its own limit was rejected by its limit of a minute, or by those of its project or organization. */
function keyUseItem({ keyId, name, percent, rejected }: KeyUse): AttentionItem {
  const isNear = percent >= nearPercent
  const used = `The key ${name} has used ${Math.floor(percent)} % of its day limit`
  const rejections = `limits rejected ${plural(rejected, 'request')}`
  const text = isNear
    ? used + (rejected > 0 ? `; ${rejections}` : '')
    : `${capitalized(rejections)} of the key ${name} in a day`
  const isOver = rejected > 0 || percent >= 100
  return { kind: 'key_near_limit', severity: isOver ? 'warning' : 'info', text, objectId: keyId, sinceMs: null }
}

/** A share of fewer appeals says too little. */
const fewAppeals = 20
const oftenPercent = 10

const isOverturnedOften = ({ overturned, closed }: ClosedAppeals): boolean =>
  closed >= fewAppeals && overturned * 100 > closed * oftenPercent

const overturnedItem = ({
  policyId,
  name,
  overturned,
  closed,
}: AttentionFacts['closedAppeals'][number]): AttentionItem => ({
  kind: 'policy_overturned_often',
  severity: 'warning',
  text: `Reviewers overturned ${overturned} of ${plural(closed, 'decision')} of the policy ${name} in 30 days`,
  objectId: policyId,
  sinceMs: null,
})

const openAppealsItem = (count: number): AttentionItem => ({
  kind: 'appeals_open',
  severity: 'info',
  text: `${plural(count, 'appeal')} ${count === 1 ? 'waits' : 'wait'} for a review`,
  ...noTime,
})

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
