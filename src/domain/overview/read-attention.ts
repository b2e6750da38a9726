import type { ExportStore } from '../audit/export/export-sink.ts'
import type { AuditReads } from '../audit/log.ts'
import type { GatewayStore } from '../gateway-config/store.ts'
import type { DirectoryStore } from '../identity/store.ts'
import type { PolicySummary } from '../policy/policy.ts'
import { isEvaluable } from '../policy/rule.ts'
import type { PolicyStore } from '../policy/store.ts'
import { expiresSoonMs, type AttentionFacts, type PausedPolicy } from './attention.ts'

export type AttentionStores = {
  readonly policies: Pick<PolicyStore, 'list' | 'listInForce'>
  readonly events: Pick<AuditReads, 'list'>
  readonly gateway: Pick<GatewayStore, 'find'>
  readonly exports: Pick<ExportStore, 'list'>
  readonly directory: Pick<DirectoryStore, 'listProjectKeys' | 'listAdminKeys'>
}

type ReadOptions = { readonly organizationId: string; readonly nowMs: number; readonly hasJudge: boolean }

const page = { limit: 20, order: 'desc' } as const

/** The facts that attention is made from. The caller adds the spend, which it shows as well, and the upstreams of its node. */
export async function readAttentionFacts(
  stores: AttentionStores,
  { organizationId, nowMs, hasJudge }: ReadOptions,
): Promise<Omit<AttentionFacts, 'spend' | 'upstreams'>> {
  const { policies, gateway, exports, directory } = stores
  const expiring = { ...page, status: { is: 'active', nowMs }, expiresBeforeMs: nowMs + expiresSoonMs } as const
  const [paused, inForce, configuration, sinks, apiKeys, adminKeys] = await Promise.all([
    policies.list(organizationId, { ...page, state: 'paused' }),
    hasJudge ? [] : policies.listInForce(organizationId),
    gateway.find(organizationId),
    exports.list(organizationId, { ...page, limit: 100 }),
    directory.listProjectKeys(organizationId, expiring),
    directory.listAdminKeys(organizationId, expiring),
  ])
  return {
    nowMs,
    pausedPolicies: await Promise.all(paused.items.map((policy) => pausedPolicy(stores, policy))),
    unjudgedPolicies: inForce.filter(({ published }) => published !== null && !isEvaluable(published.rule)),
    configuration,
    sinks: sinks.items,
    expiringKeys: [...apiKeys.items, ...adminKeys.items],
  }
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
