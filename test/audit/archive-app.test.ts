import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startTestApp, type TestApp } from '../support/app.ts'
import { createFastClock } from '../support/fast-clock.ts'
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
    assert.match(JSON.stringify(degraded), /"audit archive".*there is no folder/)
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
})

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
