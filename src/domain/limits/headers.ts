import type { Refused, Verdict } from './admission.ts'
import { scopes, type WindowMetric } from './scopes.ts'
import type { Gauge, Standing } from './standing.ts'

export type Headers = Record<string, string>

/** The rate-limit headers of an inference answer, admitted or not: those of the scope closest to its limit. */
export function inferenceHeaders(verdict: Verdict): Headers {
  const { standing } = verdict
  const projectTokens = closest(gaugesOf(standing, 'tpm')) === standing.project.tpm ? standing.project.tpm : null
  return {
    ...named('requests', closest([...gaugesOf(standing, 'rpm'), ...gaugesOf(standing, 'rpd')])),
    ...named('tokens', closest([...gaugesOf(standing, 'tpm'), ...gaugesOf(standing, 'tpd')])),
    ...named('project-tokens', projectTokens),
    ...(verdict.admitted ? {} : retryAfter(verdict)),
  }
}

const gaugesOf = (standing: Standing, metric: WindowMetric): (Gauge | null)[] =>
  scopes.map((scope) => standing[scope][metric])

/** The least remaining is the only number a caller can act on. Of two that are equal, the later reset. */
function closest(gauges: readonly (Gauge | null)[]): Gauge | null {
  let found: Gauge | null = null
  for (const gauge of gauges) {
    if (gauge === null) continue
    const isCloser =
      found === null ||
      gauge.remaining < found.remaining ||
      (gauge.remaining === found.remaining && gauge.resetMs > found.resetMs)
    if (isCloser) found = gauge
  }
  return found
}

function named(what: string, gauge: Gauge | null): Headers {
  if (gauge === null) return {}
  return {
    [`x-ratelimit-limit-${what}`]: String(gauge.limit),
    [`x-ratelimit-remaining-${what}`]: String(gauge.remaining),
    [`x-ratelimit-reset-${what}`]: duration(gauge.resetMs),
  }
}

/** Whole seconds, rounded up, at least one. A refusal for credits has none: waiting does not help. */
const retryAfter = (refused: Refused): Headers =>
  refused.reason === 'credits' ? {} : { 'retry-after': String(Math.max(1, Math.ceil(waitOf(refused) / 1000))) }

/** A request larger than the limit itself never passes; it is told when the window is empty. */
function waitOf({ retryAfterMs, standing, scope, reason }: Refused): number {
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
