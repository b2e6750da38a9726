import { eventLog } from '../adapters/stores/sql/audit/log.ts'
import { ipDenialFacts } from '../domain/audit/event/admin-facts.ts'
import type { EventMaker } from '../domain/audit/event/event-maker.ts'
import type { AuthenticatorParts } from '../domain/identity/authenticate.ts'
import type { Infrastructure } from './infrastructure.ts'

/** The holder of a stolen key decides how often it is used, but not how fast the audit log grows. */
const tellEveryMs = 60_000
const maxKeys = 10_000

/** Counts requests of keys from addresses that they do not allow, and tells the audit log once a minute for each key. */
export function createIpDenials(
  { metrics, clock, database, warn }: Pick<Infrastructure, 'metrics' | 'clock' | 'database' | 'warn'>,
  events: EventMaker,
): AuthenticatorParts['onIpDenied'] {
  const denials = metrics.counter(
    'gatehouse_ip_denials_total',
    'Requests of valid keys that came from an address which the key does not allow.',
    { credential: ['api_key', 'admin_key'] },
  )
  const onError = warn('a key was used from an address that it does not allow, and the audit log cannot be written')
  const toldAtMs = new Map<string, number>()

  return (who, address) => {
    denials.add({ credential: who.kind })
    const timeMs = clock.nowMs()
    if (timeMs - (toldAtMs.get(who.id) ?? -Infinity) < tellEveryMs) return
    toldAtMs.delete(who.id)
    toldAtMs.set(who.id, timeMs)
    if (toldAtMs.size > maxKeys) toldAtMs.delete(toldAtMs.keys().next().value ?? '') // the oldest goes first
    database
      .transaction((tx) => eventLog(tx, events).append(ipDenialFacts({ caller: who, address, timeMs })))
      .catch(onError)
  }
}
