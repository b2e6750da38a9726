import { hourMs, minuteMs } from '../../base/clock.ts'

/** The range around now in which a destination accepts timestamps. */
export type TimeWindow = { readonly pastMs: number; readonly aheadMs: number }

const marginMs = 5 * minuteMs // for transmission and clock skew

/** A window that is slightly narrower than the vendor's. */
export const timeWindow = (pastHours: number, aheadHours: number): TimeWindow => ({
  pastMs: pastHours * hourMs - marginMs,
  aheadMs: aheadHours * hourMs - marginMs,
})

/**
 * Whether the destination would replace or reject the event's timestamp, as after an outage of hours. The event's time then
 * goes to a separate field, and the event is marked late.
 */
export const isOutside = (timeMs: number, nowMs: number, { pastMs, aheadMs }: TimeWindow): boolean =>
  timeMs < nowMs - pastMs || timeMs > nowMs + aheadMs
