import { wholePeriodMs, type LedgerReports } from '../credits/reports.ts'
import { gatewaySubject } from '../evaluation/spikes/counted-decisions.ts'
import { unsaved } from '../gateway-config/configuration.ts'
import type { GatewayStore } from '../gateway-config/store.ts'
import type { PolicyStore } from '../policy/store.ts'
import { wholePeriod, type SubjectSums } from '../rollup/subject-sums.ts'
import { periodBefore, type ReportPeriod } from './period.ts'

/** One of those with the highest figure, and its figure in the period before. */
export type Ranked = { readonly id: string; readonly figure: number; readonly before: number }

const shown = 5

/** More policies than an organization enforces. */
const mostPolicies = 500

/** The id is that of the policy. The gateway configuration has an id of its own, which its requests have as well. */
export type RankedRule = Ranked & { readonly check: 'policy' | 'gateway'; readonly name: string | null }

type RuleParts = {
  readonly policies: Pick<PolicyStore, 'list'>
  readonly gateway: Pick<GatewayStore, 'find'>
  readonly subjects: SubjectSums
}

/** The policies that denied most requests, and the gateway configuration. */
export async function topDenials(
  { policies, gateway, subjects }: RuleParts,
  organizationId: string,
  period: ReportPeriod,
): Promise<RankedRule[]> {
  const [{ items }, saved = unsaved] = await Promise.all([
    policies.list(organizationId, { limit: mostPolicies, order: 'desc' }),
    gateway.find(organizationId),
  ])
  const byId = new Map(items.map((policy) => [policy.id, policy]))
  const read = async (of: ReportPeriod): Promise<ReadonlyMap<string, number>> => {
    const wanted = { organizationId, subjects: [...byId.keys(), gatewaySubject], ...of, bucket: wholePeriod }
    return new Map((await subjects(wanted)).map(({ subject, denials }) => [subject, denials]))
  }
  const [figures, before] = await Promise.all([read(period), read(periodBefore(period))])
  const { policy_id: id, name } = saved.config
  return topOf(figures, before).map((ranked) =>
    ranked.id === gatewaySubject
      ? { ...ranked, check: 'gateway', id, name }
      : { ...ranked, check: 'policy', name: byId.get(ranked.id)?.name ?? null },
  )
}

/** The projects and keys that spent most, in micro-credits. */
export type TopSpenders = {
  readonly totalMicro: number
  readonly totalBeforeMicro: number
  readonly projects: readonly Ranked[]
  readonly keys: readonly Ranked[]
}

/** More projects and keys than fit into an overview. Beyond them, the total and the ranks are those of the first. */
const mostGroups = 20_000

export async function topSpenders(
  ledger: Pick<LedgerReports, 'usage'>,
  organizationId: string,
  period: ReportPeriod,
): Promise<TopSpenders> {
  const read = async ({ from, to }: ReportPeriod) => {
    const rows = await ledger.usage({
      organizationId,
      fromMs: from * 1000,
      toMs: to * 1000,
      bucketMs: wholePeriodMs,
      groupBy: ['project', 'api_key'],
      limit: mostGroups,
    })
    const [projects, keys] = [new Map<string, number>(), new Map<string, number>()]
    let totalMicro = 0
    for (const { projectId, keyId, micro } of rows) {
      totalMicro += micro
      if (projectId !== null) projects.set(projectId, (projects.get(projectId) ?? 0) + micro)
      if (keyId !== null) keys.set(keyId, (keys.get(keyId) ?? 0) + micro)
    }
    return { totalMicro, projects, keys }
  }
  const [now, before] = await Promise.all([read(period), read(periodBefore(period))])
  return {
    totalMicro: now.totalMicro,
    totalBeforeMicro: before.totalMicro,
    projects: topOf(now.projects, before.projects),
    keys: topOf(now.keys, before.keys),
  }
}

/** The highest figures, without those that are 0. */
const topOf = (figures: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): Ranked[] =>
  Array.from(figures, ([id, figure]) => ({ id, figure, before: before.get(id) ?? 0 }))
    .filter(({ figure }) => figure > 0)
    .sort((a, b) => b.figure - a.figure)
    .slice(0, shown)
