import assert from 'node:assert/strict'
import { before, describe, it, type TestContext } from 'node:test'
import { s3 } from '../../src/adapters/sinks/s3.ts'
import { systemClock } from '../../src/base/clock.ts'
import { auditDocuments } from '../support/audit-documents.ts'
import { sinkParts, tally } from '../support/sink-parts.ts'

const endpoint = process.env['PEER_AWS_URL']
const signal = AbortSignal.timeout(120_000)
const bucket = 'audit-of-a-role'
const auth = { type: 'assume_role', role_arn: 'arn:aws:iam::123456789012:role/export', external_id: 'made-by-us' }

describe('s3 with an assumed role against Moto', { skip: endpoint === undefined ? 'no Moto' : false }, () => {
  const open = (t: TestContext) => {
    const parts = sinkParts(t, {
      clock: systemClock,
      routes: { 'sts.us-east-1.amazonaws.com': endpoint ?? '' },
    })
    const awsCredentials = { accessKeyId: 'AKIAOPERATOR', secretAccessKey: 'the operator’s own'.replaceAll('’', '-') }
    return s3.open({ bucket, region: 'us-east-1', endpoint, auth }, { ...parts, awsCredentials })
  }
  const listed = async (): Promise<string> => (await fetch(`${endpoint}/${bucket}?list-type=2`)).text()
  before(async () => {
    if (endpoint !== undefined) assert.equal((await fetch(`${endpoint}/${bucket}`, { method: 'PUT' })).status, 200)
  })

  it('assumes the role at the token service, and stores the batch with the temporary credentials', async (t) => {
    const sink = open(t)
    assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 20 }), signal)), { delivered: 20 })
    assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 20 }), signal)), { delivered: 20 })
    assert.equal((await listed()).match(/<Key>/g)?.length, 1, 'the same batch is the same object')
  })
})
