import type { Clock } from '../../base/clock.ts'
import { clientPrefixOf } from './free-request.ts'

const windowMs = 60_000
const maxSubscribers = 50_000

/** Counts failed authentications per client prefix, to slow down a client that guesses keys. */
export type AuthFailures = {
  /** The `Retry-After` seconds for this address; 0 while it is within its limit. */
  waitSeconds(address: string): number
  add(address: string): void
}

export function createAuthFailures(clock: Clock, failuresPerMinute: number): AuthFailures {
  const windows = new Map<string, { startMs: number; count: number }>()

  const current = (subscriber: string) => {
    const entry = windows.get(subscriber)
    return entry && clock.monotonicMs() - entry.startMs < windowMs ? entry : undefined
  }

  return {
    waitSeconds(address) {
      const entry = current(clientPrefixOf(address))
      if (!entry || entry.count <= failuresPerMinute) return 0
      return Math.max(1, Math.ceil((entry.startMs + windowMs - clock.monotonicMs()) / 1000))
    },
    add(address) {
      const subscriber = clientPrefixOf(address)
      const entry = current(subscriber)
      if (entry) {
        entry.count++
        return
      }
      windows.delete(subscriber)
      windows.set(subscriber, { startMs: clock.monotonicMs(), count: 1 })
      if (windows.size > maxSubscribers) windows.delete(windows.keys().next().value ?? '') // evicts the oldest window
    },
  }
}
