import type { UpstreamCondition } from './health.ts'
import type { Definition, StoredFacts } from './served-models.ts'

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
  /** Undefined for an upstream of the installation. */
  readonly stored?: StoredFacts
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
  /** Those of the installation. */
  list(): readonly UpstreamStatus[]
  /** Those that the organization added. */
  listOwn(organizationId: string): Promise<readonly UpstreamStatus[]>
  /** Throws a Fault if the organization has no such upstream. Calls of one upstream at the same time share one probe. */
  probe(organizationId: string, name: string): Promise<UpstreamProbe>
  /** The names of the models that the upstream lists; undefined if it has no list or does not answer. */
  offered(organizationId: string, name: string): Promise<readonly string[] | undefined>
  /** Lists the models of an upstream that is not stored yet, and calls this one, or one of the list, for one token. */
  test(settings: Readonly<Record<string, unknown>>, model: string | undefined): Promise<UpstreamTest>
}

export type UpstreamTest = UpstreamProbe & {
  /** The models that the upstream lists. */
  readonly models: readonly string[]
}

export function upstreamStateOf(condition: UpstreamCondition): UpstreamStatus['state'] {
  if (condition.cooldownLeftMs > 0) return 'resting'
  if (condition.failures > 0) return 'failing'
  return condition.lastSuccessAtMs === null ? 'unknown' : 'ok'
}
