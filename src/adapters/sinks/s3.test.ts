import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { auditDocuments, testTimeMs } from '../../../test/support/audit-documents.ts'
import { startReceiver, type Received, type Reply } from '../../../test/support/receiver.ts'
import {
  s3Auth as auth,
  s3Error as xml,
  s3Secrets,
  s3SignatureProblem,
  s3Store as store,
  type S3Objects as Objects,
  type S3Rules as Rules,
} from '../../../test/support/s3-store.ts'
import { jumpingClock, sinkParts, tally } from '../../../test/support/sink-parts.ts'
import { canonicalize } from '../../domain/audit/event/canonical.ts'
import { startOfChain } from '../../domain/audit/chain/chain.ts'
import type { DeliveryOutcome } from '../../domain/audit/export/sink.ts'
import { rowOfExport } from '../../domain/audit/chain/chained-event.ts'
import { verifyChain } from '../../domain/audit/chain/verify.ts'
import { s3 } from './s3.ts'

const signal = new AbortController().signal
async function open(t: TestContext, rules: Rules = {}, config: object = {}) {
  const objects: Objects = new Map()
  const receiver = await startReceiver(t, store(rules, objects))
  const sink = s3.open(
    { bucket: 'audit', region: 'eu-central-1', endpoint: receiver.origin, auth, ...config },
    sinkParts(t, { clock: jumpingClock(testTimeMs) }),
  )
  return { sink, objects, receiver }
}

const linesIn = (objects: Objects): number[] =>
  [...objects.values()]
    .flatMap(({ text }) => text.trimEnd().split('\n'))
    .map((line) => Number(JSON.parse(line).metadata.sequence))
    .sort((left, right) => left - right)

const stateOf = (outcome: DeliveryOutcome | undefined) => (outcome?.kind === 'pause' ? outcome.state : outcome?.kind)

describe('s3', () => {
  it('writes a batch as one object of canonical lines, by the first event’s hour and the sequences', async (t) => {
    const { sink, objects } = await open(t, {}, { prefix: 'logs' })
    const batch = auditDocuments({ count: 3, stepMs: 3_600_000 })
    assert.deepEqual(tally(await sink.deliver(batch, signal)), { delivered: 3 })
    const [[key, object] = assert.fail('nothing was written')] = objects
    assert.match(key, /^logs\/org=org_1\/dt=2026-08-23\/hour=10\/0{15}1-0{15}3-[0-9a-f]{12}\.ndjson\.gz$/)
    assert.equal(object?.text, batch.map((document) => `${canonicalize(document)}\n`).join(''))
    assert.equal(object?.headers['content-type'], 'application/x-ndjson')
    assert.equal(object?.headers['content-encoding'], 'gzip')
  })

  it('writes lines that can be verified against the chain', async (t) => {
    const { sink, objects } = await open(t)
    await sink.deliver(auditDocuments({ count: 20, promptLength: 100 }), signal)
    const lines = [...objects.values()].flatMap(({ text }) => text.trimEnd().split('\n'))
    const rows = lines.map((line) => rowOfExport(line) ?? assert.fail(line))
    const report = await verifyChain(rows, { from: startOfChain('org_1') })
    assert.deepEqual([report.checked, report.finding], [20, undefined])
  })

  it('counts an existing object as delivered, and repeats the same bytes', async (t) => {
    const { sink, objects, receiver } = await open(t)
    const batch = auditDocuments({ count: 50 })
    await sink.deliver(batch, signal)
    assert.deepEqual(tally(await sink.deliver(batch, signal)), { delivered: 50 })
    const [first, second] = receiver.requests
    assert.deepEqual(first?.raw, second?.raw)
    assert.equal(objects.size, 1)
  })

  it('overwrites if conditional writes are off', async (t) => {
    const { sink, receiver } = await open(t, {}, { conditional_put: false })
    await sink.deliver(auditDocuments({ count: 1 }), signal)
    assert.equal(receiver.requests[0]?.headers['if-none-match'], undefined)
  })

  it('sends signed headers for encryption, storage class and owner', async (t) => {
    const config = {
      sse: 'aws:kms',
      kms_key_id: 'k',
      storage_class: 'STANDARD_IA',
      expected_bucket_owner: '123456789012',
    }
    const { sink, receiver } = await open(t, {}, config)
    assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 1 }), signal)), { delivered: 1 })
    const headers = receiver.requests[0]?.headers
    assert.equal(headers?.['x-amz-server-side-encryption'], 'aws:kms')
    assert.equal(headers?.['x-amz-server-side-encryption-aws-kms-key-id'], 'k')
    assert.equal(headers?.['x-amz-storage-class'], 'STANDARD_IA')
    assert.equal(headers?.['x-amz-expected-bucket-owner'], '123456789012')
  })

  it('writes a signed checkpoint under _digest, with the hash of the object that holds its event', async (t) => {
    const { sink, objects } = await open(t)
    const checkpoint = { chain_uid: 'org_1/1', sequence: 41, signature: 's' }
    await sink.deliver(
      auditDocuments({ count: 1, facts: { code: 'audit.checkpoint', details: { checkpoint } } }),
      signal,
    )
    const digest = JSON.parse(objects.get('_digest/org=org_1/0000000000000001.json')?.text ?? '')
    const object = objects.get(digest.object.key)
    assert.ok(object)
    assert.deepEqual(digest.checkpoint, checkpoint)
    assert.equal(digest.object.sha256, createHash('sha256').update(object.raw).digest('hex'))
  })

  it('writes a batch that starts with an event which was sent before, such as a test', async (t) => {
    const { sink, objects } = await open(t)
    const batch = auditDocuments({ count: 3, facts: { code: 'export.test' } })
    await sink.deliver(batch.slice(0, 1), signal)
    await sink.deliver(batch, signal)
    assert.deepEqual(linesIn(objects), [1, 1, 2, 3])
  })

  it('does not confuse other events of the same range of sequences', async (t) => {
    const { sink, objects } = await open(t)
    const batch = auditDocuments({ count: 3 })
    await sink.deliver(
      batch.filter((_, at) => at !== 1),
      signal,
    )
    await sink.deliver(batch, signal)
    assert.deepEqual(linesIn(objects), [1, 1, 2, 3, 3])
  })

  it('uses the bucket’s own host at AWS, and the path if the name has a dot', async (t) => {
    const cases: [bucket: string, host: string, path: string][] = [
      ['audit', 'audit.s3.eu-central-1.amazonaws.com', '/org%3Dorg_1/'],
      ['au.dit', 's3.eu-central-1.amazonaws.com', '/au.dit/org%3Dorg_1/'],
    ]
    for (const [bucket, host, path] of cases) {
      const receiver = await startReceiver(t, (received) => s3SignatureProblem(received, testTimeMs) ?? { status: 200 })
      const parts = sinkParts(t, { routes: { [host]: receiver.origin }, clock: jumpingClock(testTimeMs) })
      const sink = s3.open({ bucket, region: 'eu-central-1', auth }, parts)
      assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 1 }), signal)), { delivered: 1 })
      assert.ok(receiver.requests[0]?.target.startsWith(path))
    }
  })
})

describe('s3 pauses', () => {
  it('on a wrong secret and an unknown key', async (t) => {
    for (const bad of [{ secret_access_key: 'wrong' }, { access_key_id: 'NOBODY' }]) {
      const { sink } = await open(t, {}, { auth: { ...auth, ...bad } })
      const [outcome] = await sink.deliver(auditDocuments({ count: 1 }), signal)
      assert.equal(stateOf(outcome), 'auth_error')
      assert.ok(!JSON.stringify(outcome).includes('SECRET'))
    }
  })

  it('on a missing bucket, and on one in another region, which it names', async (t) => {
    const missing = await open(t, { bucket: 'other' })
    const [first] = await missing.sink.deliver(auditDocuments({ count: 1 }), signal)
    assert.deepEqual(first, { kind: 'pause', state: 'config_error', reason: 'The store answered 404 (NoSuchBucket).' })
    const moved = await open(t, {
      failure: () =>
        xml(301, 'PermanentRedirect', { 'x-amz-bucket-region': 'us-west-2', location: 'http://127.0.0.1:1/' }),
    })
    const [second] = await moved.sink.deliver(auditDocuments({ count: 1 }), signal)
    assert.deepEqual(second, {
      kind: 'pause',
      state: 'config_error',
      reason: 'The store answered 301 (PermanentRedirect). The bucket is in us-west-2.',
    })
  })
})

describe('s3 retries', () => {
  const replies: [string, Reply][] = [
    ['slow down', xml(503, 'SlowDown')],
    ['a slow upload', xml(400, 'RequestTimeout')],
    ['damage on the way', xml(400, 'BadDigest')],
    ['two writers at once', xml(409, 'ConditionalRequestConflict')],
    ['too many requests', { status: 429 }],
  ]
  for (const [what, reply] of replies) {
    it(`after ${what}`, async (t) => {
      const { sink } = await open(t, { failure: () => reply })
      assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 2 }), signal)), { retry: 2 })
    })
  }

  it('when the gateway’s clock is wrong, and reports it', async (t) => {
    const { sink } = await open(t, { nowMs: testTimeMs + 3_600_000 })
    const [outcome] = await sink.deliver(auditDocuments({ count: 1 }), signal)
    assert.match(outcome?.kind === 'retry' ? outcome.reason : '', /clock of this gateway is wrong/)
  })

  it('when the connection fails', async (t) => {
    const { sink } = await open(t, { failure: () => assert.fail('cut') })
    assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 1 }), signal)), { retry: 1 })
  })
})

describe('s3 with a role', () => {
  const role = { type: 'assume_role', role_arn: 'arn:aws:iam::123456789012:role/export', external_id: 'gh-1' }
  const sts = 'sts.eu-central-1.amazonaws.com'

  const grant = (expiresMs: number): Reply => ({
    status: 200,
    body: `<AssumeRoleResponse><Credentials><AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>${s3Secrets.ASIAROLE}</SecretAccessKey><SessionToken>tok</SessionToken><Expiration>${new Date(expiresMs).toISOString()}</Expiration></Credentials></AssumeRoleResponse>`,
  })

  async function openRole(t: TestContext, answer: (received: Received) => Reply, operator = true) {
    const objects: Objects = new Map()
    const receiver = await startReceiver(t, store({}, objects))
    const issuer = await startReceiver(t, answer)
    const parts = sinkParts(t, { routes: { [sts]: issuer.origin }, clock: jumpingClock(testTimeMs) })
    const awsCredentials = operator ? { accessKeyId: 'AKIAGATEWAY', secretAccessKey: 'op' } : undefined
    const config = { bucket: 'audit', region: 'eu-central-1', endpoint: receiver.origin, auth: role }
    return { sink: s3.open(config, { ...parts, awsCredentials }), issuer, receiver }
  }

  it('assumes it once, with the gateway’s external id, and signs with the issued credentials', async (t) => {
    const { sink, issuer, receiver } = await openRole(t, () => grant(testTimeMs + 3_600_000))
    const batch = auditDocuments({ count: 2 })
    assert.deepEqual(tally(await sink.deliver(batch.slice(0, 1), signal)), { delivered: 1 })
    assert.deepEqual(tally(await sink.deliver(batch.slice(1), signal)), { delivered: 1 })
    assert.equal(issuer.requests.length, 1)
    const form = new URLSearchParams(issuer.requests[0]?.text)
    assert.deepEqual(
      [form.get('Action'), form.get('RoleArn'), form.get('ExternalId')],
      ['AssumeRole', role.role_arn, 'gh-1'],
    )
    assert.equal(receiver.requests[0]?.headers['x-amz-security-token'], 'tok')
  })

  it('renews it five minutes before it expires', async (t) => {
    const { sink, issuer } = await openRole(t, () => grant(testTimeMs + 299_000))
    for (const document of auditDocuments({ count: 2 })) await sink.deliver([document], signal)
    assert.equal(issuer.requests.length, 2)
  })

  it('pauses if the role is rejected, or if the gateway has no AWS identity', async (t) => {
    const denied = await openRole(t, () => xml(403, 'AccessDenied'))
    const withoutIdentity = await openRole(t, () => grant(testTimeMs + 3_600_000), false)
    for (const { sink } of [denied, withoutIdentity]) {
      const [outcome] = await sink.deliver(auditDocuments({ count: 1 }), signal)
      assert.equal(stateOf(outcome), 'auth_error')
    }
  })

  it('retries when AWS throttles with status 400', async (t) => {
    const { sink } = await openRole(t, () => xml(400, 'Throttling'))
    const [outcome] = await sink.deliver(auditDocuments({ count: 1 }), signal)
    assert.equal(stateOf(outcome), 'retry')
  })
})
