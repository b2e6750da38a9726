import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { startNodes, type Nodes } from '../support/node-process.ts'
import { answerWith, question } from '../support/paid-app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { redisUrl, withoutRedis } from '../support/redis.ts'
import { startUpstream } from '../support/upstream.ts'

const skip = withoutPostgres || withoutRedis

/** Only requests per minute are limited. */
const limits = {
  tiers: { free: { rpm: 60, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } } },
}
/** Long, because test machines are busy and the nodes must not fall back for that. */
const storage = { redis_timeout_ms: 5_000 }
const unlimited = { tiers: { free: { ...limits.tiers.free, rpm: 0 } } }

async function statusesOf(nodes: Nodes, count: number, body: object): Promise<Map<number, number>> {
  const send = async (at: number): Promise<number> => {
    const answer = await fetch(`${nodes.urls[at % nodes.urls.length]}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${nodes.apiKey}` },
      body: JSON.stringify(body),
    })
    await answer.arrayBuffer()
    return answer.status
  }
  const statuses = await Promise.all(Array.from({ length: count }, (_, at) => send(at)))
  return new Map([...Map.groupBy(statuses, (status) => status)].map(([status, all]) => [status, all.length]))
}

describe('three nodes with one Redis', { skip }, () => {
  it('admit exactly 60 parallel requests if 60 a minute are allowed', async () => {
    await using database = await createScratchDatabase()
    await using nodes = await startNodes({
      count: 3,
      databaseUrl: database.url,
      redisUrl: redisUrl ?? '',
      config: { limits, storage },
    })
    const send = () => statusesOf(nodes, 200, { ...question, model: 'gatehouse-echo' })
    // Until all nodes have contributed to Redis, each admits only its share, so the first round may admit fewer.
    let admitted = 0
    for (let round = 0; round < 5 && admitted < 60; round++) admitted += (await send()).get(200) ?? 0
    assert.equal(admitted, 60)
    assert.deepEqual(Object.fromEntries(await send()), { 429: 200 })
  })

  it('pay for exactly 37 of 300 parallel requests if the balance covers 37', async () => {
    await using database = await createScratchDatabase()
    await using upstream = await startUpstream(answerWith('Hello', { input: 3, output: 50 }))
    await using nodes = await startNodes({
      count: 3,
      databaseUrl: database.url,
      redisUrl: redisUrl ?? '',
      config: {
        limits: unlimited,
        storage,
        credits: { starting: 37 * 50 },
        upstreams: [{ name: 'up', kind: 'openai-chat', base_url: `${upstream.url}/v1` }],
        models: [{ name: 'paid', targets: [{ upstream: 'up' }], price: { input: 0, output: 1000 } }],
      },
    })
    const statuses = await statusesOf(nodes, 300, question)
    assert.deepEqual(Object.fromEntries(statuses), { 200: 37, 402: 263 })
    assert.equal(upstream.requests.length, 37)
    assert.equal(nodes.command('credits', 'balance')['remaining_credits'], 0)
    assert.equal(nodes.command('ledger', 'verify')['broken'], null)
  })

  it('admit exactly 37 of 1,000 requests if a budget allows 37, and report its threshold once', async () => {
    await using database = await createScratchDatabase()
    await using nodes = await startNodes({
      count: 3,
      databaseUrl: database.url,
      redisUrl: redisUrl ?? '',
      config: { limits: unlimited, storage },
    })
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${nodes.adminKey}` }
    const budget = JSON.stringify({ name: 'Trial', requests: 37, period: 'month', warn_at: [100] })
    const made = await fetch(`${nodes.urls[0]}/v1/organization/budgets`, { method: 'POST', headers, body: budget })
    assert.equal(made.status, 201, await made.text())
    // The other nodes know of the budget within a second.
    await setTimeout(1_500)
    const send = () => statusesOf(nodes, 250, { ...question, model: 'gatehouse-echo' })
    const rounds = [await send(), await send(), await send(), await send()]
    const admitted = rounds.reduce((sum, statuses) => sum + (statuses.get(200) ?? 0), 0)
    const rejected = rounds.reduce((sum, statuses) => sum + (statuses.get(429) ?? 0), 0)
    assert.deepEqual([admitted, rejected], [37, 963])
    const reached = async (): Promise<number> => {
      const url = `${nodes.urls[0]}/v1/organization/audit_logs?kind=budget.threshold_reached`
      const listed = await fetch(url, { headers: { authorization: headers.authorization } })
      const body = (await listed.json()) as { data: unknown[] }
      assert.equal(listed.status, 200, JSON.stringify(body))
      return body.data.length
    }
    while ((await reached()) === 0) await setTimeout(1_000)
    // Every node has looked once more.
    await setTimeout(11_000)
    assert.equal(await reached(), 1)
  })
})
