import type { AdmissionRequest } from './admission.ts'
import { shareOf } from './scopes.ts'

/** How long a node that counts apart spends from a budget before it reads again what all nodes have spent. */
const maxAgeMs = 10_000

/** The same request, for counters of one node among several that count apart. */
export function withinShare(request: AdmissionRequest, nodes: number): AdmissionRequest {
  const limits = shareOf(request.limits, nodes)
  if (request.mode === 'count' || request.budgets === undefined) return { ...request, limits }
  return { ...request, limits, budgetShare: { nodes, maxAgeMs } }
}
