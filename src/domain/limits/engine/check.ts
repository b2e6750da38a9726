import type { AdmissionRequest } from '../admission.ts'
import { metrics, type Limits, type Metric, type ScopeLimits } from '../scopes.ts'
import { windowUsage, slotUsage, type ScopeStatus, type LimitStatus } from '../status.ts'
import { resetMs, waitMs } from './sliding-window.ts'
import { slotWaitMs, type ScopeState, type ScopeStates } from './tenant.ts'

/** How much of each limit a request needs. A limit that it does not need cannot reject it. */
export type Demands = Readonly<Record<Metric, number>>

const requestAlone: Demands = { rpm: 1, rpd: 1, tpm: 0, tpd: 0, concurrent: 0 }

export const demandsOf = (request: AdmissionRequest): Demands =>
  request.mode === 'count' ? requestAlone : { rpm: 1, rpd: 1, tpm: request.tokens, tpd: request.tokens, concurrent: 1 }

/** The input of a limit check. */
export type CheckContext = {
  readonly states: ScopeStates
  readonly limits: Limits
  readonly needs: Demands
  readonly nowMs: number
}

/** One limit of one scope. */
export type LimitCheck = { readonly state: ScopeState; readonly metric: Metric }

/** By how much the request would exceed this limit. */
function excessAt({ limits, needs }: CheckContext, state: ScopeState, metric: Metric): number {
  const limit = limits[state.scope][metric]
  const need = needs[metric]
  if (limit === 0 || need === 0) return 0
  return (metric === 'concurrent' ? state.inFlight : state[metric].total) + need - limit
}

/** The limits that the request would exceed, nearest scope first. */
export function exceededLimits(context: CheckContext): LimitCheck[] {
  const exceeded: LimitCheck[] = []
  for (const state of context.states) {
    for (const metric of metrics) if (excessAt(context, state, metric) > 0) exceeded.push({ state, metric })
  }
  return exceeded
}

/** Time until this limit admits the request, if nothing else happens. Infinity: never. */
export function limitWaitMs(context: CheckContext, { state, metric }: LimitCheck): number {
  const excess = excessAt(context, state, metric)
  if (excess <= 0) return 0
  return metric === 'concurrent'
    ? slotWaitMs(state, excess, context.nowMs)
    : waitMs(state[metric], excess, context.nowMs)
}

/** The current usage of the three scopes. */
export const statusOf = ({ states: [key, project, organization], limits, nowMs }: CheckContext): LimitStatus => ({
  key: scopeStatus(key, limits.key, nowMs),
  project: scopeStatus(project, limits.project, nowMs),
  organization: scopeStatus(organization, limits.organization, nowMs),
})

const scopeStatus = (state: ScopeState, limit: ScopeLimits, nowMs: number): ScopeStatus => ({
  rpm: windowUsage(limit.rpm, state.rpm.total, resetMs(state.rpm, nowMs)),
  rpd: windowUsage(limit.rpd, state.rpd.total, resetMs(state.rpd, nowMs)),
  tpm: windowUsage(limit.tpm, state.tpm.total, resetMs(state.tpm, nowMs)),
  tpd: windowUsage(limit.tpd, state.tpd.total, resetMs(state.tpd, nowMs)),
  concurrent: slotUsage(limit.concurrent, state.inFlight),
})
