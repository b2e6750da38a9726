import { eventLog } from '../adapters/stores/sql/audit/log.ts'
import type { EventMaker } from '../domain/audit/event/event-maker.ts'
import { createKeyDenials } from '../domain/audit/key-denials.ts'
import type { OnKeyDenied } from '../domain/identity/key-denial.ts'
import type { Infrastructure } from './infrastructure.ts'

/** Counts the denials of known keys, and writes them to the audit log. */
export function reportDenials({ metrics, clock, database, warn }: Infrastructure, events: EventMaker): OnKeyDenied {
  const atAddress = metrics.counter(
    'gatehouse_ip_denials_total',
    'Requests of valid keys that came from an address which the key does not allow.',
    { credential: ['api_key', 'admin_key'] },
  )
  return createKeyDenials({
    clock,
    count: (credential, reason) => void (reason === 'ip_not_allowed' && atAddress.add({ credential })),
    append: (facts) => database.transaction((tx) => eventLog(tx, events).append(facts)),
    onError: warn('a key was denied, and the audit log cannot be written'),
  })
}
