import type { components } from '../api/schema.d.ts'
import { words } from '../words/en.ts'
import type { Series } from './series.ts'
import type { Bar } from './stacked-bars.tsx'

const text = words.traffic

export const allSeries: readonly Series[] = [{ id: 'requests', name: text.allRequests, tone: 'allow' }]

/** What was acted on, or would have been. */
export const actedSeries: readonly Series[] = [
  { id: 'denied', name: text.denied, tone: 'deny' },
  { id: 'changed', name: text.changed, tone: 'redact' },
  { id: 'escalated', name: text.escalated, tone: 'escalate' },
  { id: 'errors', name: text.errors, tone: 'error' },
  { id: 'monitored', name: text.monitored, tone: 'monitor' },
]

const seriesOfDecision: Readonly<Record<string, string>> = {
  refuse: 'denied',
  escalate: 'escalated',
  redact: 'changed',
  rewrite: 'changed',
  summary: 'changed',
}

/** The requests of one step by what became of them. */
export function decisionBar({ start_time: start, results }: components['schemas']['Traffic']['data'][number]): Bar {
  const values: Record<string, number> = {}
  const add = (id: string, requests: number): void => void (values[id] = (values[id] ?? 0) + requests)
  for (const { decision, requests, errors, denied } of results) {
    add('requests', requests)
    add('errors', errors)
    const series = seriesOfDecision[decision ?? '']
    if (series === undefined) continue
    // A decision to deny that did not deny was recorded in monitoring.
    const enforced = series === 'denied' || series === 'escalated' ? denied : requests - errors
    add(series, enforced)
    add('monitored', Math.max(0, requests - errors - enforced))
  }
  return { startMs: start * 1_000, values }
}

export function sumOfBars(bars: readonly Bar[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { values } of bars) for (const [id, value] of Object.entries(values)) sums[id] = (sums[id] ?? 0) + value
  return sums
}
