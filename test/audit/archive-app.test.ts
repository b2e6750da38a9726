import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { isProven, verifyWith } from '../../src/app/audit-verification.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { createFastClock } from '../support/fast-clock.ts'
import { startReceiver } from '../support/receiver.ts'
import { s3Auth, s3Store, type S3Objects } from '../support/s3-store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const dayMs = 24 * 60 * 60_000

describe('a server with an archive of the audit log', () => {
  it('says that the archive cannot be written, keeps the events, and archives them once it can', async () => {
    await using root = await temporaryFolder()
    const folder = join(root.path, 'archive')
    const clock = createFastClock(600)
    const config = { audit: { retention_days: 1, archive: { folder } } }
    await using server = await startTestApp({ config, clock })
    await until(async () => (await logOf(server)).some(({ kind }) => kind === 'audit.checkpoint'))
    clock.skip(3 * dayMs)
    const { degraded } = await until(async () => {
      const ready = await bodyOf(server, '/health/ready')
      return Array.isArray(ready.degraded) ? ready : undefined
    })
    assert.match(JSON.stringify(degraded), /"audit archive".*expired events cannot be archived/)
    assert.doesNotMatch(JSON.stringify(degraded), new RegExp(`${root.path}|${server.organizationId}`))
    const metrics = await (await server.get('/metrics')).text()
    assert.match(metrics, /^gatehouse_audit_archive_failing 1$/m)
    assert.ok((await logOf(server)).some(({ sequence }) => sequence === 1))
    mkdirSync(folder)
    const [object] = await until(async () => {
      const { data } = await bodyOf(server, '/v1/organization/audit_logs/archive?order=asc')
      return Array.isArray(data) && data.length > 0 ? data : undefined
    })
    assert.deepEqual([object.first_sequence, object.target], [1, 'folder'])
    await until(async () => (await logOf(server)).every(({ sequence }) => sequence > object.last_sequence))
    assert.equal((await bodyOf(server, '/health/ready')).degraded, undefined)
  })

  it('archives to a bucket, and a copy of the bucket can be verified', async (t) => {
    await using copy = await temporaryFolder()
    const clock = createFastClock(600)
    const objects: S3Objects = new Map()
    const store = await startReceiver(t, (received) => s3Store({ nowMs: clock.nowMs() }, objects)(received))
    const { type: _type, ...auth } = s3Auth
    const s3 = { bucket: 'audit', region: 'eu-central-1', endpoint: store.origin, prefix: 'archive', auth }
    await using server = await startTestApp({ config: { audit: { retention_days: 1, archive: { s3 } } }, clock })
    await until(async () => (await logOf(server)).some(({ kind }) => kind === 'audit.checkpoint'))
    clock.skip(3 * dayMs)
    await until(async () => (await logOf(server)).every(({ sequence }) => sequence > 1))
    for (const [key, { raw }] of objects) writeIn(copy.path, key.slice('archive/'.length), raw)
    const open = async () => ({ client: server.app.client, async [Symbol.asyncDispose]() {} })
    const verification = await verifyWith(open, { archive: copy.path, acceptLate: 1_000_000 })
    assert.ok(isProven(verification), JSON.stringify(verification))
  })

  it('does not start with an archive that is not one target, or without credentials', async () => {
    const s3 = { bucket: 'audit', region: 'eu-central-1' }
    const auth = { access_key_id: 'a', secret_access_key: 'b' }
    for (const [archive, problem] of [
      [{}, /audit\.archive: name either a folder or s3/],
      [{ folder: '/tmp', s3: { ...s3, auth } }, /audit\.archive: name either a folder or s3/],
      [{ s3 }, /audit\.archive\.s3\.auth: is missing/],
      [{ s3: { ...s3, auth, prefix: '../other' } }, /audit\.archive\.s3\.prefix: must not/],
      [{ s3: { ...s3, auth, kms_key_id: 'k' } }, /audit\.archive\.s3\.kms_key_id: belongs to/],
      [{ s3: { ...s3, auth, endpoint: 'https://s3.example.com/path' } }, /audit\.archive\.s3\.endpoint/],
    ] as const)
      await assert.rejects(startTestApp({ config: { audit: { archive } } }), problem)
  })
})

function writeIn(folder: string, name: string, bytes: Uint8Array): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), bytes)
}

type Entry = { readonly kind: string; readonly sequence: number }

const bodyOf = async ({ get, adminKey }: TestApp, path: string): Promise<Record<string, unknown>> =>
  (await get(path, { authorization: `Bearer ${adminKey}` })).json() as Promise<Record<string, unknown>>

const logOf = async (server: TestApp): Promise<readonly Entry[]> =>
  (await bodyOf(server, '/v1/organization/audit_logs?order=asc&limit=100')).data as readonly Entry[]

/** Repeats until the result is neither undefined nor false. */
async function until<T>(read: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const result = await read()
    if (result !== undefined && result !== false) return result
    await delay(50)
  }
}
