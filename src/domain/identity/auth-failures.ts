import type { Clock } from '../../base/clock.ts'
import { clientPrefixOf } from './free-request.ts'

const windowMs = 60_000
const maxSubscribers = 50_000

/** Counts failed authentications per subscriber, so that a client that guesses keys is told to slow down. */
export type AuthFailures = {
  /** Seconds that this address is told to wait for after a failure; 0 while it is within its budget. */
  waitSeconds(address: string): number
  note(address: string): void
}

export function createAuthFailures(clock: Clock, failuresPerMinute: number): AuthFailures {
  const seen = new Map<string, { startMs: number; count: number }>()

  const current = (subscriber: string) => {
    const entry = seen.get(subscriber)
    return entry && clock.monotonicMs() - entry.startMs < windowMs ? entry : undefined
  }

  return {
    waitSeconds(address) {
      const entry = current(clientPrefixOf(address))
      if (!entry || entry.count <= failuresPerMinute) return 0
      return Math.max(1, Math.ceil((entry.startMs + windowMs - clock.monotonicMs()) / 1000))
    },
    note(address) {
      const subscriber = clientPrefixOf(address)
      const entry = current(subscriber)
      if (entry) {
        entry.count++
        return
      }
      seen.delete(subscriber)
      seen.set(subscriber, { startMs: clock.monotonicMs(), count: 1 })
      if (seen.size > maxSubscribers) seen.delete(seen.keys().next().value ?? '') // the oldest window goes first
    },
  }
}
