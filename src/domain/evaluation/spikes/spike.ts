/** How many requests something was asked about, and how many of them it refused or escalated. */
export type DenialCount = { readonly requests: number; readonly denials: number }

/** The latest minutes of one version, and the day before them whatever the version. */
export type Sums = { readonly window: DenialCount; readonly dayBefore: DenialCount }

/** The minutes that are looked at, the current one included. */
export const windowMinutes = 15
export const dayMinutes = 24 * 60

const fewestRequests = 20
const mostPercent = 25

export const minuteOf = (nowMs: number): number => Math.floor(nowMs / 60_000)

/** Many enough to tell, and too many of them denied. */
export const hasManyDenials = ({ requests, denials }: DenialCount): boolean =>
  requests >= fewestRequests && denials * 100 > requests * mostPercent

/** Crowded, and at least twice the share of the day before; a day without requests had no denials. */
export const isSpike = ({ window, dayBefore }: Sums): boolean =>
  hasManyDenials(window) && window.denials * dayBefore.requests >= 2 * dayBefore.denials * window.requests

/** The numbers that led to a decision of the watch, for those who have to understand it. */
export const evidenceOf = ({ window, dayBefore }: Sums) => ({
  window_minutes: windowMinutes,
  ...shareOf(window),
  day_before: shareOf(dayBefore),
})

const shareOf = ({ requests, denials }: DenialCount) => ({
  requests,
  denials,
  denied_percent: requests === 0 ? 0 : Math.round((denials / requests) * 10_000) / 100,
})
