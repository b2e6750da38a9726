import type { AdmissionRequest, Renewal, AdmissionResult } from './admission.ts'
import type { Contributions } from './contributions.ts'
import type { LimitEngine } from './engine/engine.ts'
import { shareOf, type Limits } from './scopes.ts'
import { withinShare } from './share.ts'
import { LimitStoreError, type SharedLimitStore } from './store.ts'

export type AdmissionsParts = {
  readonly shared: SharedLimitStore
  readonly local: LimitEngine
  readonly contributions: Contributions
  /** How many nodes share the limits now. */
  readonly nodes: () => number
}

/** How often one admission contributes to a shared store that keeps losing its state. */
const maxContributions = 3

/** Decides with the shared counters or with the local ones. The local counters count every request that this node admits. */
export function createAdmissions({ shared, local, contributions, nodes }: AdmissionsParts) {
  const share = (limits: Limits): Limits => shareOf(limits, nodes())
  return { admitShared, admitLocally }

  async function admitShared(request: AdmissionRequest): Promise<AdmissionResult> {
    const { organization } = request
    for (let tries = 0; tries < maxContributions; tries++) {
      if (contributions.hasUnsent(organization)) await contributions.send(organization)
      const verdict = contributions.isWhole() ? await admitWhole(request) : await admitWithinShare(request)
      if (verdict !== 'forgotten') return verdict
      await contributions.sendAll(organization)
    }
    throw new LimitStoreError('unreachable', 'the shared counters keep losing their state')
  }

  async function admitWhole(request: AdmissionRequest): Promise<AdmissionResult | 'forgotten'> {
    const verdict = await admitOrUndo(shared, request)
    if (verdict !== 'forgotten' && verdict.admitted) local.countAdmitted(request, verdict.atMs)
    return verdict
  }

  /** While the shared counters may lack usage of other nodes, the request must also fit into this node's share. */
  async function admitWithinShare(request: AdmissionRequest): Promise<AdmissionResult | 'forgotten'> {
    const limits = share(request.limits)
    const unmetered =
      request.mode === 'count' ? { ...request, limits } : { ...withoutBudgets(request), micro: null, limits }
    if (unmetered.mode !== 'count' && !local.isCounted(unmetered)) {
      // What exceeds the share alone is no attempt to exceed the limit: counted, it would keep other nodes from admitting theirs.
      const fits = local.admit({ ...unmetered, mode: 'check' })
      if (!fits.admitted) return fits
    }
    const own = local.admit(unmetered)
    if (!own.admitted || own.duplicate) return own.admitted ? admitOrUndo(shared, request) : own
    try {
      const verdict = await admitOrUndo(shared, request)
      if (verdict === 'forgotten' || !verdict.admitted) local.retract(request)
      else if (request.mode === 'full') local.handOver(request)
      return verdict
    } catch (error) {
      local.retract(request)
      throw error
    }
  }

  function admitLocally(request: AdmissionRequest): AdmissionResult {
    const verdict = local.admit(withinShare(request, nodes()))
    if (verdict.admitted && !verdict.duplicate) contributions.add(request, verdict.atMs)
    return verdict
  }
}

/** What the budgets have left is known from the ledger, also while the shared counters lack usage of other nodes. */
function withoutBudgets<Request extends AdmissionRequest & { readonly mode: 'full' | 'check' }>(request: Request) {
  const { budgets: _, ...rest } = request
  return rest
}

/**
 * An admission that failed without a reply may have been executed nevertheless. A settlement on the same connection undoes
 * it. If that fails too, the slot expires and the hold becomes overdue.
 */
async function admitOrUndo(
  shared: SharedLimitStore,
  request: AdmissionRequest,
): Promise<AdmissionResult | 'forgotten'> {
  try {
    return await shared.admit(request)
  } catch (error) {
    if (request.mode === 'full') void undo(shared, request)
    throw error
  }
}

async function undo(shared: SharedLimitStore, { organization, project, key, requestId }: Renewal): Promise<void> {
  try {
    await shared.settle({ organization, project, key, requestId, tokens: 0, micro: 0 })
  } catch {
    // Unreachable: the slot expires, and the reconciler ends the hold.
  }
}
