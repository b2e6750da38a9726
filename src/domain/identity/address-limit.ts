import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { retryIn } from '../../base/plural.ts'
import { createAuthFailures } from './auth-failures.ts'

/** Limits what a client without a credential may do, by its address. */
export type AddressLimit = {
  /** Throws above the limit. */
  admit(address: string): void
}

export function createAddressLimit(clock: Clock, perMinute: number): AddressLimit {
  const counts = createAuthFailures(clock, perMinute)
  return {
    admit(address) {
      counts.add(address)
      const retryAfterSeconds = counts.waitSeconds(address)
      if (retryAfterSeconds === 0) return
      const message = `Too many requests from this address. ${retryIn(retryAfterSeconds)}`
      throw new Fault('rate_limit', 'rate_limit_exceeded', message, { retryAfterSeconds })
    },
  }
}
