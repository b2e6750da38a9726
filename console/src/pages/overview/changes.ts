import { milliseconds, seconds, signedMilliseconds, signedPercent } from '../../kit/format.ts'
import type { RangeName } from '../../session/time-range.ts'
import { words } from '../../words/en.ts'
import type { OverviewPeriod } from './queries.ts'

const text = words.overview

type Latency = OverviewPeriod['figures']['p95']

/** How much a figure changed: in percent, and in words where there is nothing to divide by. */
export function changeText(now: number, before: number, range: RangeName | 'custom'): string {
  const name = text.before[range]
  if (now === before) return text.change.same(name)
  return before === 0 ? text.change.fromNone(name) : text.change.on(signedPercent(now / before - 1), name)
}

/** The change alone, for a column. */
export const changeShare = (now: number, before: number): string =>
  before === 0 ? words.common.none : signedPercent(now / before - 1)

/** The latency as far as the sums tell it: of few responses, only the range that it is in. */
export function latencyText(latency: Latency): string {
  if (latency === null) return words.common.none
  const { estimate_ms: estimate, from_ms: from, to_ms: to } = latency
  if (estimate !== null) return text.latency.exact(milliseconds(estimate))
  return to === null ? text.latency.over(seconds(from)) : text.latency.under(milliseconds(to))
}

export function latencyChange(now: Latency, before: Latency, range: RangeName | 'custom'): string {
  const name = text.before[range]
  const [estimate, earlier] = [now?.estimate_ms ?? null, before?.estimate_ms ?? null]
  if (before === null) return text.change.fromNone(name)
  if (estimate === null || earlier === null) return text.change.value(latencyText(before), name)
  return estimate === earlier ? text.change.same(name) : text.change.on(signedMilliseconds(estimate - earlier), name)
}
