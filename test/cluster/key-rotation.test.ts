import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { startAdminApp, textOf } from '../support/administration.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'

const body = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

const statusOf = async (node: TestApp, secret: string): Promise<number> =>
  (await node.post('/v1/messages', body, { authorization: `Bearer ${secret}` })).status

/** Sends the secret until this status is returned. */
async function until(status: number, node: TestApp, secret: string): Promise<void> {
  const startMs = performance.now()
  while ((await statusOf(node, secret)) !== status) {
    assert.ok(performance.now() - startMs < 20_000, `never answered ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe('a key that is rotated on one of two nodes', { skip: withoutPostgres }, () => {
  it('is accepted with its new secret on both at once, and with the old one until the grace time has passed', async () => {
    await using database = await createScratchDatabase()
    let passedMs = 0
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + passedMs }
    const options = {
      clock,
      config: { secret: 'the same secret on every node' },
      storage: { database_url: database.url },
    }
    await using first = await startAdminApp(options)
    await using second = await startTestApp({ ...options, isFirst: false })
    const nodes = [first, second]
    const path = `/projects/${first.projectId}/api_keys`
    const made = await first.admin.post(path, { name: 'Chat' })
    const rotate = async (graceSeconds: number): Promise<string> =>
      textOf(await first.admin.post(`${path}/${textOf(made)}/rotate`, { grace_seconds: graceSeconds }), 'value')
    const onBoth = (secret: string) => Promise.all(nodes.map((node) => statusOf(node, secret)))

    const secrets = [textOf(made, 'value')]
    assert.deepEqual(await onBoth(secrets[0] ?? ''), [200, 200])
    for (const graceSeconds of [600, 0, 600]) {
      const [oldest, old = ''] = [secrets.at(-2), secrets.at(-1)]
      const next = await rotate(graceSeconds)
      assert.deepEqual(await onBoth(next), [200, 200])
      secrets.push(next)
      if (oldest !== undefined) for (const node of nodes) await until(401, node, oldest)
      if (graceSeconds === 0) for (const node of nodes) await until(401, node, old)
      else assert.deepEqual(await onBoth(old), [200, 200])
      assert.deepEqual(await onBoth(next), [200, 200])
    }

    // The other node knows of the rotation when it knows of a later change. A poll after the clock has moved would miss it.
    const later = await first.admin.post(path, { name: 'Later' })
    assert.deepEqual(await onBoth(textOf(later, 'value')), [200, 200])
    await first.admin.send('DELETE', `${path}/${textOf(later)}`)
    await until(401, second, textOf(later, 'value'))
    passedMs = 601_000
    const [old = '', next = ''] = secrets.slice(-2)
    assert.deepEqual(await onBoth(old), [401, 401])
    assert.deepEqual(await onBoth(next), [200, 200])
    await using third = await startTestApp({ ...options, isFirst: false })
    assert.deepEqual([await statusOf(third, old), await statusOf(third, next)], [401, 200])
  })
})
