import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { azureMonitor } from '../../src/adapters/sinks/azure-monitor.ts'
import { systemClock } from '../../src/base/clock.ts'
import { auditDocuments } from '../support/audit-documents.ts'
import { sinkParts, tally } from '../support/sink-parts.ts'

const url = process.env['PEER_AZURE_URL']
const host = 'house.westeurope-1.ingest.monitor.azure.com'
const uuid = '11111111-2222-3333-4444-555555555555'
const signal = AbortSignal.timeout(120_000)
const config = {
  endpoint: `https://${host}`,
  dcr_immutable_id: `dcr-${'0a'.repeat(16)}`,
  stream_name: 'Custom-Gatehouse',
  tenant_id: uuid,
  client_id: uuid,
  client_secret: 'a secret',
}

describe('azure_monitor against its contract', { skip: url === undefined ? 'no Prism' : false }, () => {
  const open = (t: TestContext, change: object = {}) => {
    const routes = { [host]: url ?? '', 'login.microsoftonline.com': url ?? '' }
    return azureMonitor.open({ ...config, ...change }, sinkParts(t, { clock: systemClock, routes }))
  }

  it('accepts a batch with a token of an OAuth server', async (t) => {
    const facts = { timeMs: Date.now() }
    assert.deepEqual(tally(await open(t).deliver(auditDocuments({ count: 50, facts }), signal)), { delivered: 50 })
  })

  it('accepts events of any age', async (t) => {
    const facts = { timeMs: Date.now() - 30 * 24 * 3_600_000 }
    assert.deepEqual(tally(await open(t).deliver(auditDocuments({ count: 5, facts }), signal)), { delivered: 5 })
  })

  it('rejects a batch that violates the contract, so the checker works', async (t) => {
    const outcomes = await open(t, { stream_name: 'Microsoft-Gatehouse' }).deliver(auditDocuments({ count: 1 }), signal)
    assert.deepEqual(tally(outcomes), { reject: 1 })
  })
})
