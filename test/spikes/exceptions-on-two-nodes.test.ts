import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isInPercent } from '../../src/domain/gateway-config/rollout.ts'
import { itemsOf, startAdminApp, textOf, type AdminApp } from '../support/administration.ts'
import { startTestApp } from '../support/app.ts'
import { createFastClock } from '../support/fast-clock.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'

const secret = 'the-secret-of-both-nodes-0123456789abcdef'
const body = { model: 'gatehouse-echo', max_tokens: 9, messages: [{ role: 'user', content: 'What is Falcon?' }] }

/** Of the key that the requests are sent with. */
async function keyIdOf({ admin, projectId }: AdminApp): Promise<string> {
  const keys = itemsOf(await admin.get(`/projects/${projectId}/api_keys`))
  return textOf(keys.find((key) => textOf(key, 'name').includes('policy gateway')) ?? {})
}

describe('exceptions and rollouts on two nodes', { skip: withoutPostgres }, () => {
  it('begin and end on the other node within a second, and expire in the log once', async () => {
    await using opened = new AsyncDisposableStack()
    const { url } = opened.use(await createScratchDatabase())
    const clock = createFastClock(1)
    const storage = { database_url: url }
    const config = { secret }
    const near = opened.use(await startAdminApp({ storage, clock, config }))
    const far = opened.use(await startTestApp({ storage, clock, config, isFirst: false }))
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

    // Neither the key nor anybody else is in the first percent, unless the hash of the key says so.
    const side = isInPercent(await keyIdOf(near), 1) ? 400 : 200
    await near.admin.post(`${policy}/rollout`, { revision: 2, percent: 1 })
    assert.equal(await statusOf(near), side)
    await reaches(side)
    await near.admin.post(`${policy}/rollout`, { revision: 3, percent: 100 })
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
