import type { PerScope, WindowMetric } from './scopes.ts'

/** The usage of one window of one scope. */
export type WindowUsage = {
  readonly limit: number
  readonly remaining: number
  /** Time until the window is empty, if no further request comes. */
  readonly resetMs: number
}

/** The usage of concurrency slots. They have no reset time, because it is unknown when running requests end. */
export type SlotUsage = { readonly limit: number; readonly remaining: number }

/** null: no limit. */
export type ScopeStatus = Readonly<Record<WindowMetric, WindowUsage | null>> & { readonly concurrent: SlotUsage | null }

/** The usage of each scope after a decision. */
export type LimitStatus = PerScope<ScopeStatus>

/** If usage exceeds the limit (an answer was longer than estimated), 0 remains. */
export const windowUsage = (limit: number, used: number, resetMs: number): WindowUsage | null =>
  limit === 0 ? null : { limit, remaining: Math.max(0, limit - used), resetMs }

export const slotUsage = (limit: number, inFlight: number): SlotUsage | null =>
  limit === 0 ? null : { limit, remaining: Math.max(0, limit - inFlight) }
