import { hourMs, minuteMs } from '../../base/clock.ts'

/** How far from now a destination believes a timestamp. */
export type TimeWindow = { readonly pastMs: number; readonly aheadMs: number }

const marginMs = 5 * minuteMs // for the way, and for clocks that differ

/** A window a little narrower than the vendor's own. */
export const timeWindow = (pastHours: number, aheadHours: number): TimeWindow => ({
  pastMs: pastHours * hourMs - marginMs,
  aheadMs: aheadHours * hourMs - marginMs,
})

/**
 * Whether the destination would replace or refuse the event's own time. After an outage of hours that is normal;
 * the true time then travels in a field of ours, and the event is marked late.
 */
export const isOutside = (timeMs: number, nowMs: number, { pastMs, aheadMs }: TimeWindow): boolean =>
  timeMs < nowMs - pastMs || timeMs > nowMs + aheadMs
