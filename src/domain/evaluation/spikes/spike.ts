/** Requests that a policy or configuration was evaluated on, and how many of them it denied. */
export type DenialCount = { readonly requests: number; readonly denials: number }

/** Counts of the current window of one version, and of the day before it over all versions. */
export type Sums = { readonly window: DenialCount; readonly dayBefore: DenialCount }

/** Length of the window, including the current minute. */
export const windowMinutes = 15
export const hourMinutes = 60
export const dayMinutes = 24 * hourMinutes

const minRequests = 20
const maxPercent = 25

export const minuteOf = (nowMs: number): number => Math.floor(nowMs / 60_000)

/** True if there are enough requests to judge by, and too many of them are denied. */
export const hasManyDenials = ({ requests, denials }: DenialCount): boolean =>
  requests >= minRequests && denials * 100 > requests * maxPercent

/** True if many requests are denied, and at least twice the share of the day before. A day without requests counts as 0 %. */
export const isSpike = ({ window, dayBefore }: Sums): boolean =>
  hasManyDenials(window) && window.denials * dayBefore.requests >= 2 * dayBefore.denials * window.requests

/** The numbers behind an automatic disabling, for its audit event. */
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
