import assert from 'node:assert/strict'
import { it } from 'node:test'
import { chargeOf } from '../../../test/support/credits.ts'
import { limitSettings } from '../../../test/support/limit-settings.ts'
import { noFailpoint } from '../../base/failpoint.ts'
import { createLimitEngine } from '../limits/engine/engine.ts'
import { unlimited } from '../limits/scopes.ts'
import { createSettle } from './settle.ts'

const subject = { organization: 'org_1', project: 'proj_1', key: 'key_1' }
const limits = { key: { ...unlimited, concurrent: 1 }, project: unlimited, organization: unlimited }

it('a charge that cannot be written frees the slot of its request, and leaves its hold to the reconciler', async () => {
  const engine = createLimitEngine({ nowMs: () => 0, epoch: 'epoch', settings: limitSettings })
  const admit = (requestId: string) =>
    engine.admit({ ...subject, limits, mode: 'full', requestId, tokens: 2, micro: null })
  const full = new Error('the disk is full')
  const settle = createSettle({
    ledger: { settle: () => Promise.reject(full) },
    limits: engine,
    backlog: null,
    failpoint: noFailpoint,
    onCharge: () => {},
  })
  assert.equal(admit('req_1').admitted, true)
  assert.equal(admit('req_2').admitted, false)
  const held = { ...subject, requestId: 'req_1', tokens: 2, epoch: 'epoch' }
  await assert.rejects(settle(chargeOf('req_1', 5, null), held), full)
  assert.equal(admit('req_2').admitted, true)
  const open = engine.accounts('org_1').flatMap(({ holds }) => holds.map(({ requestId }) => requestId))
  assert.deepEqual(open, ['req_1', 'req_2'])
})
