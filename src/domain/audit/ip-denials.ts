import { minuteMs, type Clock } from '../../base/clock.ts'
import type { AuthenticatorParts } from '../identity/authenticate.ts'
import { ipDenialFacts } from './event/admin-facts.ts'
import type { EventFacts } from './event/facts.ts'

export type IpDenialParts = {
  readonly clock: Clock
  /** Counts every denied request. */
  readonly count: (credential: string) => void
  readonly append: (facts: EventFacts) => Promise<unknown>
  readonly onError: (error: unknown) => void
}

/** The holder of a stolen key decides how often it is used, but not how fast the audit log grows. */
const auditEveryMs = minuteMs
const maxKeys = 10_000

/** Counts requests of keys from addresses that they do not allow, and audits one of them a minute for each key. */
export function createIpDenials({ clock, count, append, onError }: IpDenialParts): AuthenticatorParts['onIpDenied'] {
  const auditedAtMs = new Map<string, number>()
  return (caller, address) => {
    count(caller.kind)
    const timeMs = clock.nowMs()
    if (timeMs - (auditedAtMs.get(caller.id) ?? -Infinity) < auditEveryMs) return
    auditedAtMs.delete(caller.id)
    auditedAtMs.set(caller.id, timeMs)
    if (auditedAtMs.size > maxKeys) auditedAtMs.delete(auditedAtMs.keys().next().value ?? '') // the oldest
    append(ipDenialFacts({ caller, address, timeMs })).catch(onError)
  }
}
