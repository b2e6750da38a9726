import type { Clock } from '../../base/clock.ts'

const windowMs = 60_000
const maxAddresses = 50_000

/** Counts failed authentications per address, so that guessing keys costs the guesser and not the database. */
export type AuthFailures = {
  /** Seconds this address has to wait before an unknown key of it is looked up again; 0 when it need not. */
  waitSeconds(address: string): number
  note(address: string): void
}

export function createAuthFailures(clock: Clock, failuresPerMinute: number): AuthFailures {
  const seen = new Map<string, { startMs: number; count: number }>()

  const current = (address: string) => {
    const entry = seen.get(address)
    return entry && clock.monotonicMs() - entry.startMs < windowMs ? entry : undefined
  }

  return {
    waitSeconds(address) {
      const entry = current(address)
      if (!entry || entry.count < failuresPerMinute) return 0
      return Math.max(1, Math.ceil((entry.startMs + windowMs - clock.monotonicMs()) / 1000))
    },
    note(address) {
      const entry = current(address)
      if (entry) {
        entry.count++
        return
      }
      seen.delete(address)
      seen.set(address, { startMs: clock.monotonicMs(), count: 1 })
      if (seen.size > maxAddresses) seen.delete(seen.keys().next().value ?? '') // the oldest window goes first
    },
  }
}
