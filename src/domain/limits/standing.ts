import type { PerScope, WindowMetric } from './scopes.ts'

/** How far one window of one scope is used. */
export type Gauge = {
  readonly limit: number
  readonly remaining: number
  /** Until the window is empty again, if nothing more comes. */
  readonly resetMs: number
}

/** Places for requests in flight. They come back when requests end, which nobody can foresee. */
export type Places = { readonly limit: number; readonly remaining: number }

/** null: no limit there. */
export type ScopeStanding = Readonly<Record<WindowMetric, Gauge | null>> & { readonly concurrent: Places | null }

/** Where each scope stands after a decision. */
export type Standing = PerScope<ScopeStanding>

/** A use above the limit (an answer longer than its estimate) shows as nothing remaining. */
export const gauge = (limit: number, used: number, resetMs: number): Gauge | null =>
  limit === 0 ? null : { limit, remaining: Math.max(0, limit - used), resetMs }

export const places = (limit: number, inFlight: number): Places | null =>
  limit === 0 ? null : { limit, remaining: Math.max(0, limit - inFlight) }
