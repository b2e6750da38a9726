import { dayMs, minuteMs, type Clock } from '../../base/clock.ts'
import type { BudgetStatus } from '../budgets/status.ts'
import type { Organization } from '../identity/principal.ts'
import type { DirectoryStore } from '../identity/store.ts'
import type { LimitOverride, OverrideStore } from '../limits/overrides.ts'
import { limitsOf, tierOf, type TierTable } from '../limits/tiers.ts'
import type { ScopeLimits } from '../limits/scopes.ts'
import type { AttentionFacts } from '../overview/attention.ts'
import type { PolicyStore } from '../policy/store.ts'
import {
  attentionBreaches,
  creditBreaches,
  deadLetterBreaches,
  expiryBreaches,
  upstreamBreaches,
} from './attention-breaches.ts'
import { budgetBreaches } from './budget-breaches.ts'
import { shareBreaches, spendBreaches, type Breach } from './breach.ts'
import type { FindBreaches } from './evaluation.ts'
import type { AlertFigures, FailingUpstream } from './figures.ts'
import { keyBreaches } from './key-breaches.ts'
import type { AlertRule, RuleFilter, RuleKind } from './rule.ts'

export type BreachFinderParts = {
  readonly figures: AlertFigures
  readonly creditUsd: number
  readonly clock: Clock
  readonly directory: Pick<DirectoryStore, 'findOrganization' | 'findProject' | 'findApiKey'>
  readonly policies: Pick<PolicyStore, 'find'>
  /** How much of the active budgets is spent. */
  readonly readBudgets: (organizationId: string) => Promise<readonly BudgetStatus[]>
  readonly overrides: Pick<OverrideStore, 'list'>
  readonly tiers: TierTable
  /** What the attention list is made from, with keys that expire within this time. */
  readonly readAttention: (organization: Organization, expiresWithinMs: number) => Promise<AttentionFacts>
  /** Those that a node reported since this time. */
  readonly readFailingUpstreams: (sinceMs: number) => Promise<readonly FailingUpstream[]>
}

/** A node reports once a minute. One that missed two reports is gone. */
const reportedMs = 3 * minuteMs

/** Finds what the rules of an organization apply to. The organization is read once, and what several rules need as well. */
export async function openBreachFinder(
  parts: BreachFinderParts,
  organizationId: string,
): Promise<FindBreaches | undefined> {
  const organization = await parts.directory.findOrganization(organizationId)
  if (!organization) return undefined
  const nowMs = parts.clock.nowMs()
  const withFigures = { ...parts, nowMs, nameOf: nameReader(parts, organization) }
  const attention = once((days: number) => parts.readAttention(organization, days * dayMs))
  const upstreams = once(() => parts.readFailingUpstreams(nowMs - reportedMs))
  const budgets = once(() => parts.readBudgets(organizationId))
  const withKeys = {
    ...withFigures,
    limitsOf: keyLimitsReader(parts, organization),
    findKey: (keyId: string) => parts.directory.findApiKey(organizationId, keyId),
  }
  const ofAttention = async (rule: AlertRule): Promise<Breach[]> => attentionBreaches(rule, await attention(0))
  const finders: Record<RuleKind, FindBreaches> = {
    spend: (rule) => spendBreaches(rule, withFigures),
    denials: (rule) => shareBreaches(rule, withFigures),
    errors: (rule) => shareBreaches(rule, withFigures),
    key_near_limit: (rule) => keyBreaches(rule, withKeys),
    budget_near_limit: (rule) => budgetBreaches(rule, { ...withFigures, statuses: () => budgets(0) }),
    credit_low: async (rule) => creditBreaches(rule, await attention(0)),
    key_expiring: async (rule) => expiryBreaches(rule, await attention(rule.threshold ?? 0)),
    dead_letters: async (rule) => deadLetterBreaches(rule, await attention(0)),
    upstream_failing: async (rule) => upstreamBreaches(rule, await upstreams(0)),
    sink_failing: ofAttention,
    policy_spike: ofAttention,
    policy_paused: ofAttention,
    rule_not_judged: ofAttention,
  }
  return (rule) => finders[rule.kind](rule)
}

/** Reads once for each argument, also if the read fails: the next evaluation tries again. */
function once<T>(read: (argument: number) => Promise<T>): (argument: number) => Promise<T> {
  const results = new Map<number, Promise<T>>()
  return (argument) => {
    const result = results.get(argument) ?? read(argument)
    results.set(argument, result)
    return result
  }
}

/** The limits of keys. The overrides of the organization are read once. */
function keyLimitsReader(
  parts: BreachFinderParts,
  organization: Organization,
): (keyId: string) => Promise<ScopeLimits> {
  const overrides = once<readonly LimitOverride[]>(() => parts.overrides.list(organization.id))
  return async (keyId) => {
    const own = (await overrides(0)).find(({ scope, subjectId }) => scope === 'key' && subjectId === keyId)
    return limitsOf(parts.tiers[tierOf(organization)], { key: own?.limits ?? {} }).key
  }
}

/** The words for what a rule is limited to, by its name, as it is shown in the console. */
const nameReader =
  ({ directory, policies }: BreachFinderParts, { id, name }: Organization) =>
  async (filter: RuleFilter | null): Promise<string> => {
    if (filter?.name === 'project_id')
      return `The project ${(await directory.findProject(id, filter.id))?.name ?? filter.id}`
    if (filter?.name === 'api_key_id')
      return `The key ${(await directory.findApiKey(id, filter.id))?.name ?? filter.id}`
    if (filter?.name === 'policy_id') return `The policy ${(await policies.find(id, filter.id))?.name ?? filter.id}`
    return `The organization ${name}`
  }
