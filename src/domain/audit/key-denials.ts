import { minuteMs, type Clock } from '../../base/clock.ts'
import type { OnKeyDenied } from '../identity/key-denial.ts'
import { keyDenialFacts } from './event/admin-facts.ts'
import type { EventFacts } from './event/facts.ts'

export type KeyDenialParts = {
  readonly clock: Clock
  /** Counts every denied request. */
  readonly count: (credential: string, reason: string) => void
  readonly append: (facts: EventFacts) => Promise<unknown>
  readonly onError: (error: unknown) => void
}

/** The holder of a stolen key decides how often it is used, but not how fast the audit log grows. */
const auditEveryMs = minuteMs
const maxKeys = 10_000

/** Counts denied requests of known keys, and audits one a minute for each key and reason, with the number since the last. */
export function createKeyDenials({ clock, count, append, onError }: KeyDenialParts): OnKeyDenied {
  const audited = new Map<string, { atMs: number; unreported: number }>()
  return (caller, { address, reason }) => {
    count(caller.kind, reason)
    const name = `${caller.id} ${reason}`
    const timeMs = clock.nowMs()
    const last = audited.get(name)
    if (last !== undefined && timeMs - last.atMs < auditEveryMs) {
      last.unreported++
      return
    }
    audited.delete(name)
    audited.set(name, { atMs: timeMs, unreported: 0 })
    if (audited.size > maxKeys) audited.delete(audited.keys().next().value ?? '') // the oldest
    append(keyDenialFacts({ caller, address, reason, timeMs, requests: 1 + (last?.unreported ?? 0) })).catch(onError)
  }
}
