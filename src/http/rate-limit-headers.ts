import type { WindowMetric } from '../domain/limits/scopes.ts'
import type { LimitStatus, WindowUsage } from '../domain/limits/status.ts'

/** The rate-limit headers of an inference response: the usage of the scope that is closest to its limit. */
export function rateLimitHeaders(status: LimitStatus): Record<string, string> {
  const minuteTokens = closest(status, 'tpm')
  const headers: Record<string, string> = {}
  add(headers, requestNames, closer(closest(status, 'rpm'), closest(status, 'rpd')))
  add(headers, tokenNames, closer(minuteTokens, closest(status, 'tpd')))
  if (minuteTokens === status.project.tpm) add(headers, projectTokenNames, minuteTokens)
  return headers
}

const closest = ({ key, project, organization }: LimitStatus, metric: WindowMetric): WindowUsage | null =>
  closer(closer(key[metric], project[metric]), organization[metric])

/** Callers can act only on the lowest number that remains. Of two equal ones, the later reset is reported. */
function closer(first: WindowUsage | null, second: WindowUsage | null): WindowUsage | null {
  if (first === null || second === null) return first ?? second
  if (first.remaining !== second.remaining) return first.remaining < second.remaining ? first : second
  return second.resetMs > first.resetMs ? second : first
}

/** Header names are built once, because building them for each response costs more than formatting the values. */
const namesFor = (what: string) => ({
  limit: `x-ratelimit-limit-${what}`,
  remaining: `x-ratelimit-remaining-${what}`,
  reset: `x-ratelimit-reset-${what}`,
})

const requestNames = namesFor('requests')
const tokenNames = namesFor('tokens')
const projectTokenNames = namesFor('project-tokens')

function add(headers: Record<string, string>, names: ReturnType<typeof namesFor>, usage: WindowUsage | null): void {
  if (usage === null) return
  headers[names.limit] = String(usage.limit)
  headers[names.remaining] = String(usage.remaining)
  headers[names.reset] = duration(usage.resetMs)
}

/** `250ms`, `6s`, `1m30s`, `23h59m8s`: rounded up, so that a caller that waits this long has waited long enough. */
export function duration(ms: number): string {
  if (ms > 0 && ms < 1000) return `${Math.ceil(ms)}ms`
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m${seconds % 60}s`
  return `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds % 60}s`
}
