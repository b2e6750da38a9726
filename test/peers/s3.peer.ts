import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { before, describe, it, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { objectsOf } from '../../src/adapters/sinks/s3-objects.ts'
import { s3 } from '../../src/adapters/sinks/s3.ts'
import { signRequest } from '../../src/adapters/sinks/sigv4.ts'
import { pinnedKeys } from '../../src/domain/audit/chain/trusted-keys.ts'
import { readExported } from '../../src/adapters/sinks/exported-files.ts'
import { verifyExport } from '../../src/domain/audit/verify-export.ts'
import { systemClock } from '../../src/base/clock.ts'
import { storeAccount } from '../../scripts/peers/versity.ts'
import { auditDocuments } from '../support/audit-documents.ts'
import { sinkParts, tally } from '../support/sink-parts.ts'

const endpoint = process.env['PEER_S3_URL'] ?? ''
const signal = AbortSignal.timeout(120_000)
const region = 'us-east-1'
const auth = {
  type: 'access_key',
  access_key_id: storeAccount.accessKeyId,
  secret_access_key: storeAccount.secretAccessKey,
}

describe('s3 against a store that checks signatures', { skip: endpoint === '' ? 'no S3 store' : false }, () => {
  const bucket = `audit-${randomUUID()}`
  const send = async (method: 'GET' | 'PUT', path: string): Promise<Response> => {
    const url = new URL(path, endpoint)
    const unsigned = { method, url, headers: {}, body: '' }
    const headers = signRequest({ ...unsigned, region, service: 's3', nowMs: Date.now() }, storeAccount)
    return fetch(url, { method, headers })
  }
  const open = (t: TestContext, change: object = {}) =>
    s3.open({ bucket, region, endpoint, auth, ...change }, sinkParts(t, { clock: systemClock }))
  before(async () => {
    if (endpoint !== '') assert.equal((await send('PUT', `/${bucket}`)).status, 200)
  })

  it('stores a batch as an object whose events form the original hash chain', async (t) => {
    const batch = auditDocuments({ count: 300 })
    assert.deepEqual(tally(await open(t, { prefix: 'a b/ü'.replace(/[^a-z/]/g, '-') }).deliver(batch, signal)), {
      delivered: 300,
    })
    const [object] = await objectsOf(batch, 'a-b/-')
    const stored = await send('GET', `/${bucket}/${object?.key}`)
    assert.equal(stored.status, 200)
    const bytes = Buffer.from(await stored.arrayBuffer()) // fetch has decompressed it
    const file = join(mkdtempSync(join(tmpdir(), 'gatehouse-peer-')), 'events.ndjson.gz')
    writeFileSync(file, gzipSync(bytes))
    const { checked, finding } = await verifyExport(() => readExported(file), pinnedKeys([]))
    assert.deepEqual([checked, finding], [300, undefined])
  })

  it('accepts the same batch twice and writes it once', async (t) => {
    const batch = auditDocuments({ count: 10, facts: { organizationId: 'org_1' } })
    const sink = open(t, { prefix: 'twice' })
    assert.deepEqual(tally(await sink.deliver(batch, signal)), { delivered: 10 })
    assert.deepEqual(tally(await sink.deliver(batch, signal)), { delivered: 10 })
  })

  it('pauses on a wrong secret, an unknown key or a missing bucket, and drops nothing', async (t) => {
    const batch = auditDocuments({ count: 2 })
    const [wrong] = await open(t, { auth: { ...auth, secret_access_key: 'another' } }).deliver(batch, signal)
    const [unknown] = await open(t, { auth: { ...auth, access_key_id: 'NOBODY' } }).deliver(batch, signal)
    const [missing] = await open(t, { bucket: `missing-${randomUUID()}` }).deliver(batch, signal)
    assert.deepEqual(
      [wrong, missing].map((outcome) => outcome?.kind === 'pause' && outcome.state),
      ['auth_error', 'config_error'],
    )
    assert.equal(unknown?.kind, 'pause', 'this store has a word of its own for it')
  })
})
