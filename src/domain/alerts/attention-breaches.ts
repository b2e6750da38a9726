import { attentionOf, type AttentionFacts, type AttentionItem, type AttentionKind } from '../overview/attention.ts'
import { dayMs } from '../../base/clock.ts'
import { plural } from '../../base/plural.ts'
import type { AlertLink } from './alert.ts'
import { amountOf, type Breach } from './breach.ts'
import type { FailingUpstream } from './figures.ts'
import type { AlertRule, RuleKind } from './rule.ts'

/** The kinds of rules that the attention list of the overview answers, and the items of each. */
const itemKinds: Partial<Record<RuleKind, readonly AttentionKind[]>> = {
  sink_failing: ['sink_failing'],
  policy_spike: ['policy_stopped_by_spike', 'policy_denials_spiked', 'gateway_rolled_back', 'gateway_denials_spiked'],
  policy_paused: ['policy_paused'],
  rule_not_judged: ['rule_not_judged'],
}

/** The subject of items about the gateway configuration, which has no id. */
const gatewaySubject = 'gateway'

/** Subjects of a rule among the items of the attention list. */
export function attentionBreaches(rule: AlertRule, facts: AttentionFacts): Breach[] {
  const kinds = itemKinds[rule.kind] ?? []
  return attentionOf(facts, () => true)
    .filter(({ kind }) => kinds.includes(kind))
    .map(breachOfItem)
    .filter((breach) => isWanted(rule, breach))
}

/** Sinks with at least this many rejected events. */
export const deadLetterBreaches = (rule: AlertRule, { sinks }: Pick<AttentionFacts, 'sinks'>): Breach[] =>
  sinks
    .filter(({ health }) => health.deadLetters >= (rule.threshold ?? 1))
    .map(({ id, label, health: { deadLetters } }) => {
      const title = `The export ${label} has ${plural(deadLetters, 'event')} that its destination rejected`
      const text = `${title}. The threshold is ${amountOf(rule.threshold ?? 1)}.`
      return { subject: id, title, text, figure: deadLetters, link: { page: 'sinks', id } as const }
    })
    .filter((breach) => isWanted(rule, breach))

/** A balance that lasts for fewer days than this at the rate of the last week. */
export function creditBreaches({ threshold }: AlertRule, { spend }: Pick<AttentionFacts, 'spend'>): Breach[] {
  const { daysLeft, balanceUsd } = spend
  const isEmpty = balanceUsd !== null && balanceUsd <= 0
  if (!isEmpty && (daysLeft === null || daysLeft >= (threshold ?? 0))) return []
  const figure = isEmpty ? 0 : (daysLeft ?? 0)
  const title = isEmpty ? 'There is no credit left' : `The credit lasts for ${amountOf(figure)} days`
  const text = `${title}. The threshold is ${plural(threshold ?? 0, 'day')}.`
  return [{ subject: '', title, text, figure, link: { page: 'limits' } }]
}

type ExpiringKeys = Pick<AttentionFacts, 'expiringKeys' | 'nowMs'>

/** Keys of both kinds that expire within this many days. */
export const expiryBreaches = ({ threshold }: AlertRule, { expiringKeys, nowMs }: ExpiringKeys): Breach[] =>
  expiringKeys.flatMap(({ id, name, expiresAtMs }) => {
    const days = ((expiresAtMs ?? Infinity) - nowMs) / dayMs
    if (days > (threshold ?? 0)) return []
    const date = new Date(expiresAtMs ?? nowMs).toISOString().slice(0, 10)
    const title = `The key ${name} expires on ${date}`
    const text = `${title} (UTC). The threshold is ${plural(threshold ?? 0, 'day')} before.`
    return [{ subject: id, title, text, figure: days, link: keyLink(id) }]
  })

/** Upstreams that fail on at least one node. */
export const upstreamBreaches = (rule: AlertRule, upstreams: readonly FailingUpstream[]): Breach[] =>
  upstreams
    .map(({ name, code }) => {
      const title = `The upstream ${name} fails${code === null ? '' : ` with ${code}`}`
      return { subject: name, title, text: `${title}.`, figure: null, link: { page: 'models' } as const }
    })
    .filter((breach) => isWanted(rule, breach))

const isWanted = ({ filter }: AlertRule, { subject }: Breach): boolean => filter === null || filter.id === subject

const breachOfItem = (item: AttentionItem): Breach => ({
  subject: item.objectId ?? gatewaySubject,
  title: item.text,
  text: `${item.text}.`,
  figure: null,
  link: linkOf(item),
})

function linkOf({ kind, objectId }: AttentionItem): AlertLink {
  if (objectId === null) return { page: 'gateway' }
  return kind === 'sink_failing' ? { page: 'sinks', id: objectId } : { page: 'policies', id: objectId }
}

const keyLink = (id: string): AlertLink => ({
  page: 'projects',
  search: { dialog: 'edit', id, ...(id.startsWith('adk_') && { tab: 'administrators' }) },
})
