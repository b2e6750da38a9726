import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemsOf, startAdminApp, textOf } from '../support/administration.ts'
import { startTestApp } from '../support/app.ts'
import { createFastClock } from '../support/fast-clock.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'

const body = { model: 'gatehouse-echo', max_tokens: 9, messages: [{ role: 'user', content: 'What is Falcon?' }] }

describe('exceptions on two nodes', { skip: withoutPostgres }, () => {
  it('begin and end on the other node within a second, and expire in the log once', async () => {
    await using opened = new AsyncDisposableStack()
    const { url } = opened.use(await createScratchDatabase())
    const clock = createFastClock(1)
    const storage = { database_url: url }
    const near = opened.use(await startAdminApp({ storage, clock }))
    const far = opened.use(await startTestApp({ storage, clock, isFirst: false }))
    const rule = { name: 'No names', rule: 'Never mention "Falcon".', mode: 'enforcing', direction: 'request' }
    const policy = `/policies/${textOf(await near.admin.post('/policies', rule))}`
    await near.admin.post(`${policy}/publish`, { revision: 1 })
    const authorization = `Bearer ${near.apiKey}`
    const statusOf = async (app: typeof far) => (await app.post('/v1/messages', body, { authorization })).status
    async function reaches(status: number): Promise<void> {
      for (let tries = 0; (await statusOf(far)) !== status; tries += 1) {
        assert.ok(tries < 200, `the other node never answers ${status}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    await reaches(400)
    const expiresAt = Math.ceil(clock.nowMs() / 1000) + 600
    const subject = { for: { project_id: near.projectId }, reason: 'A test', expires_at: expiresAt }
    const made = await near.admin.post(`${policy}/exceptions`, subject)
    assert.equal(await statusOf(near), 200)
    await reaches(200)
    await near.admin.send('DELETE', `${policy}/exceptions/${textOf(made)}`)
    assert.equal(await statusOf(near), 400)
    await reaches(400)

    await near.admin.post(`${policy}/exceptions`, subject)
    await reaches(200)
    clock.skip(expiresAt * 1000 - clock.nowMs())
    assert.deepEqual([await statusOf(near), await statusOf(far)], [400, 400])
    const expired = async () => itemsOf(await near.admin.get('/audit_logs?kind=policy_exception.expired')).length
    for (let tries = 0; (await expired()) === 0 && tries < 300; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 100))
    await new Promise((resolve) => setTimeout(resolve, 10_500)) // both nodes have run the job again
    assert.equal(await expired(), 1)
  })
})
