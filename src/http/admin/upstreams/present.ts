import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import type { UpstreamProbe, UpstreamStatus } from '../../../domain/inference/upstream-status.ts'
import type { StoredUpstream } from '../../../domain/organization-models/stored.ts'
import { presentFacts } from '../models/stored.ts'
import type { NodeIdentity } from '../system/authority.ts'
import type { ProbeObject, UpstreamObject } from './schema.ts'

/** The state of an upstream that was just stored: nothing has called it yet. */
export type PresentStored = (stored: StoredUpstream) => UpstreamStatus

export function presentUpstream(upstream: UpstreamStatus, nowMs: number): Static<typeof UpstreamObject> {
  const { cooldownLeftMs, lastSuccessAtMs, lastError, p95Ms } = upstream
  return {
    object: 'organization.upstream',
    name: upstream.name,
    kind: upstream.kind,
    state: upstream.state,
    failures: upstream.failures,
    rest_until: cooldownLeftMs === 0 ? null : toUnixSeconds(nowMs + cooldownLeftMs),
    last_success_at: lastSuccessAtMs === null ? null : toUnixSeconds(lastSuccessAtMs),
    last_error: lastError && { code: lastError.code, at: toUnixSeconds(lastError.atMs) },
    in_flight: upstream.inFlight,
    max_concurrent: upstream.maxConcurrent,
    p95_ms: p95Ms === null ? null : Math.round(p95Ms),
    defined_in: { ...upstream.definedIn },
    ...presentFacts(upstream.stored),
  }
}

export const presentProbe = (
  upstream: string,
  { model, tookMs, error }: UpstreamProbe,
  node: NodeIdentity,
): Static<typeof ProbeObject> => ({
  object: 'organization.upstream_probe',
  upstream,
  model,
  success: error === null,
  ms: tookMs,
  error: error && { ...error },
  node: { ...node },
})
