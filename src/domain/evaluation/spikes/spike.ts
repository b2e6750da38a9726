/** Requests that a policy or configuration was evaluated on, and how many of them it denied. */
export type DenialCount = { readonly requests: number; readonly denials: number }

/** How many distinct callers or keys sent requests, and how many of them had one denied. */
export type DistinctCount = { readonly active: number; readonly denied: number }

/** Counts of the current window of one version, and the requests of the day before it over all versions. */
export type Sums = {
  readonly window: DenialCount
  /** A caller is a key and a user. */
  readonly callers: DistinctCount
  readonly keys: DistinctCount
  readonly dayBefore: DenialCount
}

/** Length of the window, including the current minute. */
export const windowMinutes = 15
export const hourMinutes = 60
export const dayMinutes = 24 * hourMinutes

const minRequests = 20
const minDeniedCallers = 5
const maxPercent = 25

export const minuteOf = (nowMs: number): number => Math.floor(nowMs / 60_000)

/**
 * True if many callers are denied, and at least twice the share of requests of the day before. A day without requests counts
 * as 0 %. The share of keys counts as well, because the holder of one key can invent any number of users.
 */
export const isSpike = ({ window, callers, keys, dayBefore }: Sums): boolean =>
  window.requests >= minRequests &&
  callers.denied >= minDeniedCallers &&
  isLargeShare(callers) &&
  isLargeShare(keys) &&
  window.denials * dayBefore.requests >= 2 * dayBefore.denials * window.requests

const isLargeShare = ({ active, denied }: DistinctCount): boolean => denied * 100 > active * maxPercent

/** The numbers behind a spike, for its audit event. */
export const evidenceOf = ({ window, callers, keys, dayBefore }: Sums) => ({
  window_minutes: windowMinutes,
  ...shareOf(window),
  callers: callers.active,
  denied_callers: callers.denied,
  keys: keys.active,
  denied_keys: keys.denied,
  day_before: shareOf(dayBefore),
})

const shareOf = ({ requests, denials }: DenialCount) => ({
  requests,
  denials,
  denied_percent: requests === 0 ? 0 : Math.round((denials / requests) * 10_000) / 100,
})
