import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { testTimeMs } from '../../../test/support/audit-documents.ts'
import { loopbackRequest, startReceiver } from '../../../test/support/receiver.ts'
import { s3Auth, s3Error, s3Store, type S3Objects, type S3Rules } from '../../../test/support/s3-store.ts'
import { createOrKeep } from '../../domain/audit/archive/target.ts'
import { s3Archive, type S3ArchiveSettings } from './s3.ts'

const bytes = Buffer.from([0, 1, 254, 255])
const name = 'org_1/2026/01/31/000000000001-000000000003.ndjson.zst'

async function open(t: TestContext, rules: S3Rules = {}, settings: Partial<S3ArchiveSettings> = {}) {
  const objects: S3Objects = new Map()
  const receiver = await startReceiver(t, s3Store(rules, objects))
  const target = s3Archive(
    { bucket: 'audit', region: 'eu-central-1', endpoint: receiver.origin, ...settings },
    {
      request: loopbackRequest(t),
      clock: { nowMs: () => testTimeMs },
      credentials: () => ({ accessKeyId: s3Auth.access_key_id, secretAccessKey: s3Auth.secret_access_key }),
    },
  )
  return { target, objects, receiver }
}

describe('the bucket of an archive', () => {
  it('stores objects below the prefix and reads them back byte by byte', async (t) => {
    const { target, objects } = await open(t, {}, { prefix: 'archive' })
    assert.equal(await target.create(name, bytes), 'created')
    assert.deepEqual([...objects.keys()], [`archive/${name}`])
    assert.deepEqual(await target.read(name), bytes)
  })

  it('never replaces an object', async (t) => {
    const { target, objects } = await open(t)
    await target.create(name, bytes)
    assert.equal(await target.create(name, Buffer.from('other')), 'exists')
    assert.deepEqual(objects.get(name)?.raw, bytes)
    await assert.rejects(
      createOrKeep(target, { name, bytes: Buffer.from('other') }, () => false),
      /with other content/,
    )
    assert.deepEqual(await createOrKeep(target, { name, bytes }, () => false), bytes)
  })

  it('keeps an organization with a hostile id below the bucket', async (t) => {
    const { target, objects } = await open(t)
    await target.create('%2E%2E%2F/2026/01/31/1-2.ndjson.zst', bytes)
    assert.deepEqual([...objects.keys()], ['%2E%2E%2F/2026/01/31/1-2.ndjson.zst'])
  })

  it('sends encryption, storage class and owner', async (t) => {
    const { target, receiver } = await open(
      t,
      {},
      { sse: 'AES256', storage_class: 'GLACIER_IR', expected_bucket_owner: '123456789012' },
    )
    await target.create(name, bytes)
    const headers = receiver.requests[0]?.headers
    assert.deepEqual(
      [
        headers?.['x-amz-server-side-encryption'],
        headers?.['x-amz-storage-class'],
        headers?.['x-amz-expected-bucket-owner'],
        headers?.['if-none-match'],
      ],
      ['AES256', 'GLACIER_IR', '123456789012', '*'],
    )
  })

  it('fails with the code of the store, and names what it must support', async (t) => {
    for (const [status, code, expected] of [
      [403, 'AccessDenied', /403 \(AccessDenied\) to the request to write org_1/],
      [404, 'NoSuchBucket', /404 \(NoSuchBucket\)/],
      [501, 'NotImplemented', /must support conditional writes/],
      [503, 'SlowDown', /503 \(SlowDown\)/],
    ] as const) {
      const { target } = await open(t, { failure: () => s3Error(status, code) })
      await assert.rejects(target.create(name, bytes), (error) => {
        assert.match(String(error), expected)
        assert.doesNotMatch(String(error), /SECRET/)
        return true
      })
    }
  })

  it('fails if an object cannot be read, or the store cannot be reached', async (t) => {
    const { target } = await open(t)
    await assert.rejects(target.read(name), /404 \(NoSuchKey\) to the request to read/)
    const { target: unreachable } = await open(t, {}, { endpoint: 'http://127.0.0.1:1' })
    await assert.rejects(unreachable.create(name, bytes), /audit\.archive\.s3: The destination could not be reached/)
  })
})
