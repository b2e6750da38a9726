import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LedgerVerificationBody } from '../../src/http/operator/ledger.ts'
import { startAdminApp } from '../support/administration.ts'
import { operatorOf } from '../support/operator.ts'

const path = '/operator/ledger/verification'

describe('a verification of the ledger', () => {
  it('is not found before one was started', async () => {
    await using app = await startAdminApp()
    await assert.rejects(app.app.client.get(path), { status: 404, code: 'not_found' })
  })

  it('is started once, however often it is asked for while it runs', async () => {
    await using app = await startAdminApp()
    const { client } = app.app
    const first = await client.post<LedgerVerificationBody>(path, {})
    const second = await client.post<LedgerVerificationBody>(path, { since_checkpoint: true })
    assert.deepEqual([first.state, second.state], ['running', 'running'])
    assert.deepEqual([first.since_checkpoint, second.since_checkpoint], [false, false])
    await operatorOf(app.app).verifyLedger()
  })

  it('says whether it read everything', async () => {
    await using app = await startAdminApp()
    const operator = operatorOf(app.app)
    await operator.grant({ credits: 5, ref: 'one' })
    const full = await operator.verifyLedger()
    assert.deepEqual([full.broken, full.continued], [null, 0])
    // No entry is old enough for a checkpoint yet.
    const continued = await operator.verifyLedger(true)
    assert.deepEqual(continued, full)
    const { since_checkpoint: isSinceCheckpoint } = await app.app.client.get<LedgerVerificationBody>(path)
    assert.equal(isSinceCheckpoint, true)
  })

  it('ends with the app', async () => {
    const app = await startAdminApp()
    await app.app.client.post(path, {})
    await app[Symbol.asyncDispose]()
  })
})
