import assert from 'node:assert/strict'
import { it } from 'node:test'
import { chargeOf } from '../../../test/support/credits.ts'
import { limitSettings } from '../../../test/support/limit-settings.ts'
import { noFailpoint } from '../../base/failpoint.ts'
import { Fault } from '../../base/fault.ts'
import { createLimitEngine } from '../limits/engine/engine.ts'
import { unlimited } from '../limits/scopes.ts'
import type { ChargeBacklog } from './backlog.ts'
import type { Charge } from './charge.ts'
import { createSettle } from './settle.ts'

const subject = { organization: 'org_1', project: 'proj_1', key: 'key_1' }
const limits = { key: { ...unlimited, concurrent: 1 }, project: unlimited, organization: unlimited }

const held = { ...subject, requestId: 'req_1', tokens: 2, epoch: 'epoch' }

/** One request is admitted, and its charge fails. Resolves to the requests that hold something after the next one was admitted. */
async function heldAfter(failure: Error, backlog: ChargeBacklog | null = null): Promise<readonly string[]> {
  const engine = createLimitEngine({ nowMs: () => 0, epoch: 'epoch', settings: limitSettings })
  const admit = (requestId: string) =>
    engine.admit({ ...subject, limits, mode: 'full', requestId, tokens: 2, micro: null })
  const settle = createSettle({
    ledger: { settle: () => Promise.reject(failure) },
    limits: engine,
    backlog,
    failpoint: noFailpoint,
    onCharge: () => {},
  })
  assert.equal(admit('req_1').admitted, true)
  assert.equal(admit('req_2').admitted, false)
  await assert.rejects(settle(chargeOf('req_1', 5, null), held), failure)
  assert.equal(admit('req_2').admitted, true)
  return engine.accounts('org_1').flatMap(({ holds }) => holds.map(({ requestId }) => requestId))
}

const unreachable = new Fault('unavailable', 'storage_unavailable', 'unreachable')
const fullBacklog = { add: () => Promise.reject(new Error('no space')) } as unknown as ChargeBacklog

it('a charge that may have been written frees the slot of its request, and leaves its hold to the reconciler', async () => {
  assert.deepEqual(await heldAfter(unreachable), ['req_1', 'req_2'])
  assert.deepEqual(await heldAfter(unreachable, fullBacklog), ['req_1', 'req_2'])
})

it('a charge that was certainly not written frees the slot and the hold of its request', async () => {
  assert.deepEqual(await heldAfter(new Fault('unavailable', 'storage_rejected', 'rejected')), ['req_2'])
  assert.deepEqual(await heldAfter(new Fault('unavailable', 'storage_full', 'full')), ['req_2'])
  assert.deepEqual(await heldAfter(new Error('a bug'), fullBacklog), ['req_2'])
})

it('a charge waits in the backlog after any failure of the ledger', async () => {
  const spooled: Charge[] = []
  const backlog = { add: async (charge: Charge) => void spooled.push(charge) } as unknown as ChargeBacklog
  const engine = createLimitEngine({ nowMs: () => 0, epoch: 'epoch', settings: limitSettings })
  engine.admit({ ...subject, limits, mode: 'full', requestId: 'req_1', tokens: 2, micro: null })
  const ledger = { settle: () => Promise.reject(new Error('permission denied')) }
  const settle = createSettle({ ledger, limits: engine, backlog, failpoint: noFailpoint, onCharge: () => {} })
  assert.equal(await settle(chargeOf('req_1', 5, null), held), null)
  assert.deepEqual(
    spooled.map(({ requestId }) => requestId),
    ['req_1'],
  )
})
