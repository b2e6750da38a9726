import type { AdmissionRequest, Renewal, AdmissionResult } from './admission.ts'
import type { Contributions } from './contributions.ts'
import type { LimitEngine } from './engine/engine.ts'
import { shareOf, type Limits } from './scopes.ts'
import { LimitStoreError, type SharedLimitStore } from './store.ts'

export type AdmissionsParts = {
  readonly shared: SharedLimitStore
  readonly local: LimitEngine
  readonly contributions: Contributions
  /** How many nodes share the limits now. */
  readonly nodes: () => number
}

/** How often one admission contributes to a store that keeps losing what it was told. */
const maxContributions = 3

/** Decides by the shared counters, or by this node's own; these count what it admits either way. */
export function createAdmissions({ shared, local, contributions, nodes }: AdmissionsParts) {
  const share = (limits: Limits): Limits => shareOf(limits, nodes())
  return { admitShared, admitLocally }

  async function admitShared(request: AdmissionRequest): Promise<AdmissionResult> {
    const { organization } = request
    for (let tries = 0; tries < maxContributions; tries++) {
      if (contributions.isUntold(organization)) await contributions.tell(organization)
      const verdict = contributions.isWhole() ? await admitWhole(request) : await admitWithinShare(request)
      if (verdict !== 'forgotten') return verdict
      await contributions.tellAll(organization)
    }
    throw new LimitStoreError('unreachable', 'the shared counters keep losing what they are told')
  }

  async function admitWhole(request: AdmissionRequest): Promise<AdmissionResult | 'forgotten'> {
    const verdict = await admitOrUndo(shared, request)
    if (verdict !== 'forgotten' && verdict.admitted) local.note(request, verdict.atMs)
    return verdict
  }

  /** While the shared counters may lack what other nodes have admitted, this node's share must have room, too. */
  async function admitWithinShare(request: AdmissionRequest): Promise<AdmissionResult | 'forgotten'> {
    const free = request.mode === 'count' ? request : { ...request, micro: null }
    const own = local.admit({ ...free, limits: share(request.limits) })
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
    const verdict = local.admit({ ...request, limits: share(request.limits) })
    if (verdict.admitted && !verdict.duplicate) contributions.note(request, verdict.atMs)
    return verdict
  }
}

/**
 * An admission without an answer may have happened all the same. What follows it on the same connection gives back what
 * it took; if that fails too, the place expires and the hold becomes overdue.
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
    // Out of reach: time does the rest.
  }
}
