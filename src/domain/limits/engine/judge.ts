import type { AdmissionRequest } from '../admission.ts'
import { metrics, type Limits, type Metric, type ScopeLimits } from '../scopes.ts'
import { gauge, places, type ScopeStanding, type Standing } from '../standing.ts'
import { resetMs, waitMs } from './tally.ts'
import { placeWaitMs, type ScopeState, type ScopeStates } from './tenant.ts'

/** What a request asks of each limit. What it does not ask for cannot refuse it. */
export type Needs = Readonly<Record<Metric, number>>

const requestAlone: Needs = { rpm: 1, rpd: 1, tpm: 0, tpd: 0, concurrent: 0 }

export const needsOf = (request: AdmissionRequest): Needs =>
  request.mode === 'count' ? requestAlone : { rpm: 1, rpd: 1, tpm: request.tokens, tpd: request.tokens, concurrent: 1 }

/** Everything a judgement looks at. */
export type Case = {
  readonly states: ScopeStates
  readonly limits: Limits
  readonly needs: Needs
  readonly nowMs: number
}

/** One limit of one scope. */
export type Gate = { readonly state: ScopeState; readonly metric: Metric }

/** By how much the request would break this limit. */
function excessAt({ limits, needs }: Case, state: ScopeState, metric: Metric): number {
  const limit = limits[state.scope][metric]
  const need = needs[metric]
  if (limit === 0 || need === 0) return 0
  return (metric === 'concurrent' ? state.inFlight : state[metric].total) + need - limit
}

/** The limits that the request would break, nearest scope first. */
export function closedGates(judged: Case): Gate[] {
  const closed: Gate[] = []
  for (const state of judged.states) {
    for (const metric of metrics) if (excessAt(judged, state, metric) > 0) closed.push({ state, metric })
  }
  return closed
}

/** Until this limit lets the request pass, if nothing else happens. Infinity: it never does. */
export function gateWaitMs(judged: Case, { state, metric }: Gate): number {
  const excess = excessAt(judged, state, metric)
  if (excess <= 0) return 0
  return metric === 'concurrent'
    ? placeWaitMs(state, excess, judged.nowMs)
    : waitMs(state[metric], excess, judged.nowMs)
}

/** Where the three scopes stand now. */
export const standingOf = ({ states: [key, project, organization], limits, nowMs }: Case): Standing => ({
  key: scopeStanding(key, limits.key, nowMs),
  project: scopeStanding(project, limits.project, nowMs),
  organization: scopeStanding(organization, limits.organization, nowMs),
})

const scopeStanding = (state: ScopeState, limit: ScopeLimits, nowMs: number): ScopeStanding => ({
  rpm: gauge(limit.rpm, state.rpm.total, resetMs(state.rpm, nowMs)),
  rpd: gauge(limit.rpd, state.rpd.total, resetMs(state.rpd, nowMs)),
  tpm: gauge(limit.tpm, state.tpm.total, resetMs(state.tpm, nowMs)),
  tpd: gauge(limit.tpd, state.tpd.total, resetMs(state.tpd, nowMs)),
  concurrent: places(limit.concurrent, state.inFlight),
})
