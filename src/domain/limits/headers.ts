import type { Rejected, AdmissionResult } from './admission.ts'
import type { WindowMetric } from './scopes.ts'
import type { WindowUsage, LimitStatus } from './status.ts'

export type Headers = Record<string, string>

/** The rate-limit headers of an inference answer, admitted or not: those of the scope closest to its limit. */
export function inferenceHeaders(verdict: AdmissionResult): Headers {
  const { standing } = verdict
  const minuteTokens = closest(standing, 'tpm')
  const headers = verdict.admitted ? {} : retryAfter(verdict)
  add(headers, requestNames, closer(closest(standing, 'rpm'), closest(standing, 'rpd')))
  add(headers, tokenNames, closer(minuteTokens, closest(standing, 'tpd')))
  if (minuteTokens === standing.project.tpm) add(headers, projectTokenNames, minuteTokens)
  return headers
}

const closest = ({ key, project, organization }: LimitStatus, metric: WindowMetric): WindowUsage | null =>
  closer(closer(key[metric], project[metric]), organization[metric])

/** The least remaining is the only number a caller can act on. Of two that are equal, the later reset. */
function closer(first: WindowUsage | null, second: WindowUsage | null): WindowUsage | null {
  if (first === null || second === null) return first ?? second
  if (first.remaining !== second.remaining) return first.remaining < second.remaining ? first : second
  return second.resetMs > first.resetMs ? second : first
}

/** Spelled once: a name put together anew for each answer costs more than its value. */
const namesFor = (what: string) => ({
  limit: `x-ratelimit-limit-${what}`,
  remaining: `x-ratelimit-remaining-${what}`,
  reset: `x-ratelimit-reset-${what}`,
})

const requestNames = namesFor('requests')
const tokenNames = namesFor('tokens')
const projectTokenNames = namesFor('project-tokens')

function add(headers: Headers, names: ReturnType<typeof namesFor>, gauge: WindowUsage | null): void {
  if (gauge === null) return
  headers[names.limit] = String(gauge.limit)
  headers[names.remaining] = String(gauge.remaining)
  headers[names.reset] = duration(gauge.resetMs)
}

/** Whole seconds, rounded up, at least one. A refusal for credits has none: waiting does not help. */
const retryAfter = (refused: Rejected): Headers =>
  refused.reason === 'credits' ? {} : { 'retry-after': String(Math.max(1, Math.ceil(waitOf(refused) / 1000))) }

/** A request larger than the limit itself never passes; it is told when the window is empty. */
function waitOf({ retryAfterMs, standing, scope, reason }: Rejected): number {
  if (retryAfterMs !== null) return retryAfterMs
  return reason === 'credits' || reason === 'concurrent' ? 0 : (standing[scope][reason]?.resetMs ?? 0)
}

/** `250ms`, `6s`, `1m30s`, `23h59m8s`: rounded up, so that whoever waits that long has waited long enough. */
export function duration(ms: number): string {
  if (ms > 0 && ms < 1000) return `${Math.ceil(ms)}ms`
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m${seconds % 60}s`
  return `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds % 60}s`
}
