import type { PerScope, WindowMetric } from './scopes.ts'

/** How far one window of one scope is used. */
export type WindowUsage = {
  readonly limit: number
  readonly remaining: number
  /** Until the window is empty again, if nothing more comes. */
  readonly resetMs: number
}

/** Places for requests in flight. They come back when requests end, which nobody can foresee. */
export type SlotUsage = { readonly limit: number; readonly remaining: number }

/** null: no limit there. */
export type ScopeStatus = Readonly<Record<WindowMetric, WindowUsage | null>> & { readonly concurrent: SlotUsage | null }

/** Where each scope stands after a decision. */
export type LimitStatus = PerScope<ScopeStatus>

/** A use above the limit (an answer longer than its estimate) shows as nothing remaining. */
export const windowUsage = (limit: number, used: number, resetMs: number): WindowUsage | null =>
  limit === 0 ? null : { limit, remaining: Math.max(0, limit - used), resetMs }

export const slotUsage = (limit: number, inFlight: number): SlotUsage | null =>
  limit === 0 ? null : { limit, remaining: Math.max(0, limit - inFlight) }
