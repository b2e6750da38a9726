import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFastClock } from '../support/fast-clock.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'

const body = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
const free = { rpm: 61, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } }

describe('nodes without a Redis', { skip: withoutPostgres }, () => {
  it('divide the limits among the running nodes, log it, and use the whole limits once a single node is left', async () => {
    await using database = await createScratchDatabase()
    const config = {
      storage: { database_url: database.url },
      secret: 'the same secret on every node',
      limits: { tiers: { free } },
    }
    const options = { config, clock: createFastClock(20) }
    await using first = await startTestApp(options)
    const limitAt = async (node: TestApp): Promise<string | null> => {
      const answer = await node.post('/v1/messages', body, { authorization: `Bearer ${first.apiKey}` })
      await answer.arrayBuffer()
      return answer.headers.get('x-ratelimit-limit-requests')
    }
    const becomes = async (node: TestApp, limit: string): Promise<void> => {
      while ((await limitAt(node)) !== limit) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    assert.match(first.app.limits, /divided among the nodes/)
    assert.equal(await limitAt(first), '61')
    {
      await using second = await startTestApp({ ...options, isFirst: false })
      await becomes(second, '30')
      await becomes(first, '30')
    }
    await becomes(first, '61')
  })
})
