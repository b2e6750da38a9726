import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Principal } from '../identity/principal.ts'
import type { EventFacts } from './event/facts.ts'
import { createKeyDenials } from './key-denials.ts'

it('denials of a key are audited once a minute for each reason, with the number since the last event', () => {
  let nowMs = 1_000_000
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} }
  const events: EventFacts[] = []
  let counted = 0
  const onDenied = createKeyDenials({
    clock,
    count: () => void counted++,
    append: async (facts) => events.push(facts),
    onError: () => {},
  })
  const caller = { kind: 'api_key', id: 'key_1', organization: { id: 'org_1' }, projectId: 'proj_1' } as Principal
  for (let count = 0; count < 5; count++) onDenied(caller, { address: '192.0.2.1', reason: 'revoked' })
  onDenied(caller, { address: '192.0.2.1', reason: 'permission_denied' })
  nowMs += 60_000
  onDenied(caller, { address: '192.0.2.2', reason: 'revoked' })
  assert.equal(counted, 7)
  assert.deepEqual(
    events.map(({ details }) => [details?.['reason'], details?.['requests'], details?.['address']]),
    [
      ['revoked', 1, '192.0.2.1'],
      ['permission_denied', 1, '192.0.2.1'],
      ['revoked', 5, '192.0.2.2'],
    ],
  )
})
