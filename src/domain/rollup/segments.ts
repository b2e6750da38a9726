import { startOf } from './kinds.ts'
import { readFrom } from './retention.ts'

/** Whole steps of one length: the rows that a report reads. */
export type Segment = { readonly step: number; readonly from: number; readonly to: number }

export type Period = {
  /** Unix seconds, `to` exclusive. */
  readonly from: number
  readonly to: number
  /** The length of time that the report groups by, in seconds. */
  readonly bucket: number
}

/**
 * Covers a period with the longest steps that fit, and with shorter ones at its ends. The period is extended to whole steps of the
 * shortest length that is stored for its time.
 */
export function segmentsOf({ from, to, bucket }: Period, steps: readonly number[], nowSeconds: number): Segment[] {
  const segments: Segment[] = []
  let end = to
  // The shortest steps are those of the latest time.
  for (const [at, finest] of [...steps.entries()].toReversed()) {
    const start = at === 0 ? from : Math.max(from, readFrom(finest, nowSeconds))
    if (start >= end) continue
    const stored = steps.slice(0, at + 1)
    const fitting = stored.filter((step) => step <= bucket)
    segments.unshift(...cover({ from: start, to: end }, fitting.length === 0 ? [finest] : fitting))
    end = start
  }
  return segments
}

function cover({ from, to }: Pick<Segment, 'from' | 'to'>, steps: readonly number[]): Segment[] {
  const finest = steps.at(-1) ?? 1
  return split({ step: finest, from: startOf(from, finest), to: endOf(to, finest) }, steps)
}

function split({ from, to }: Segment, [step = 1, ...finer]: readonly number[]): Segment[] {
  if (from >= to) return []
  if (finer.length === 0) return [{ step, from, to }]
  const [start, end] = [endOf(from, step), startOf(to, step)]
  if (start >= end) return split({ step, from, to }, finer)
  return [
    ...split({ step, from, to: start }, finer),
    { step, from: start, to: end },
    ...split({ step, from: end, to }, finer),
  ]
}

export const endOf = (seconds: number, step: number): number => Math.ceil(seconds / step) * step
