import { rowOf } from '../audit/chain/chained-event.ts'
import type { ChainedDocument } from '../audit/event/document.ts'
import type { GatewayStore } from '../gateway-config/store.ts'
import type { PolicyStore } from '../policy/store.ts'
import {
  directionOf,
  gatewayVersionIn,
  policyResultsIn,
  versionKey,
  type EvaluatedRules,
  type UnevaluatedPolicy,
} from './recorded-outcomes.ts'

export type RuleReads = {
  readonly policies: Pick<PolicyStore, 'find' | 'findVersion'>
  readonly gateway: Pick<GatewayStore, 'findVersion'>
}

/** More results than this are shown without names. */
const maxPolicies = 50

/** Reads the rules that checked a request: each policy with its present name, and the versions of that time. */
export async function readEvaluatedRules(
  { policies, gateway }: RuleReads,
  document: ChainedDocument,
): Promise<EvaluatedRules> {
  const organizationId = document.metadata.tenant_uid
  const gatewayVersion = gatewayVersionIn(document)
  const found = await Promise.all(
    policyResultsIn(document)
      .slice(0, maxPolicies)
      .map(async ({ policyId: id, version }) => {
        const policy = await policies.find(organizationId, id)
        const published = version === null ? undefined : await policies.findVersion({ organizationId, id }, version)
        return [versionKey(id, version), { name: policy?.name ?? null, published }] as const
      }),
  )
  return {
    policies: new Map(found),
    gateway: gatewayVersion === null ? undefined : await gateway.findVersion(organizationId, gatewayVersion),
  }
}

/**
 * Policies that a stopped response was not evaluated with. The log does not name them, so these are the ones that are in
 * force today in a version from before the request.
 */
export async function readUnevaluatedPolicies(
  policies: Pick<PolicyStore, 'listInForce'>,
  document: ChainedDocument,
): Promise<readonly UnevaluatedPolicy[]> {
  if (directionOf(document) !== 'response') return []
  const { timeMs, projectId } = rowOf(document, '')
  const recorded = new Set(policyResultsIn(document).map(({ policyId }) => policyId))
  const inForce = await policies.listInForce(document.metadata.tenant_uid)
  return inForce.flatMap(({ id, published }): readonly UnevaluatedPolicy[] => {
    if (published === null || recorded.has(id) || published.publishedAtMs > timeMs) return []
    const { scope, projectIds } = published
    const isApplied = scope === 'organization' || (scope === 'projects' && projectIds.includes(projectId ?? ''))
    return isApplied ? [{ id, published }] : []
  })
}
