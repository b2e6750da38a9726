import type { UpstreamCondition } from './health.ts'
import type { Definition } from './served-models.ts'

/**
 * `ok`: the last call succeeded. `failing`: the last call failed. `resting`: in cooldown after several failures, so that
 * other targets are preferred. `unknown`: this process has not called it yet.
 */
export const upstreamStates = ['ok', 'failing', 'resting', 'unknown'] as const

export type UpstreamStatus = UpstreamCondition & {
  readonly name: string
  readonly kind: string
  readonly state: (typeof upstreamStates)[number]
  readonly inFlight: number
  readonly maxConcurrent: number
  readonly definedIn: Definition
}

/** The result of a call for one token. */
export type UpstreamProbe = {
  /** The upstream's own name of the model; null if no model is known. */
  readonly model: string | null
  readonly tookMs: number
  readonly error: { readonly code: string; readonly message: string } | null
}

/** The upstreams as this node sees them. */
export type Upstreams = {
  list(): readonly UpstreamStatus[]
  /** Throws a Fault if there is no such upstream. Calls of one upstream at the same time share one probe. */
  probe(name: string): Promise<UpstreamProbe>
}

export function upstreamStateOf(condition: UpstreamCondition): UpstreamStatus['state'] {
  if (condition.cooldownLeftMs > 0) return 'resting'
  if (condition.failures > 0) return 'failing'
  return condition.lastSuccessAtMs === null ? 'unknown' : 'ok'
}
