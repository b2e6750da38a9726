import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { connectRedis } from '../../src/adapters/stores/redis/connection.ts'
import { connect } from '../../src/app/client/connect.ts'
import type { FailpointName } from '../../src/base/failpoint.ts'
import { checkConfig } from '../../src/config/config.ts'
import { longRun } from '../support/long-run.ts'
import { answerWith, question } from '../support/paid-app.ts'
import { startProgram, type Program } from '../support/program.ts'
import { redisUrl, withoutRedis } from '../support/redis.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startUpstream } from '../support/upstream.ts'
import { operatorOf } from '../support/operator.ts'

const program = new URL('programs/paid-app.ts', import.meta.url)
const cost = 15
const startingCredits = 10_000
const leaseMs = 30_000

/** Where one run of the app ends: at a failpoint that it passes, or after a fixed time. */
type Death = { readonly at: FailpointName; readonly times: number; readonly afterMs: number }

/** One at each failpoint that an undisturbed app passes. */
const shortList: readonly Death[] = [
  { at: 'slice opened', times: 1, afterMs: 30_000 },
  { at: 'admitted', times: 3, afterMs: 30_000 },
  { at: 'answered', times: 5, afterMs: 30_000 },
  { at: 'recorded', times: 5, afterMs: 30_000 },
  { at: 'slice topped up', times: 2, afterMs: 30_000 },
]
const anyDeath: fc.Arbitrary<Death> = fc.record({
  at: fc.constantFrom(...shortList.map(({ at }) => at)),
  times: fc.integer({ min: 1, max: 12 }),
  afterMs: fc.integer({ min: 0, max: 1_500 }),
})
/** A real kill takes about a second, so there are a tenth as many as simulated ones. */
const deaths =
  longRun === undefined ? shortList : fc.sample(anyDeath, { numRuns: Math.ceil(longRun.runs / 10), seed: longRun.seed })
/** After that the credits of an organization are used up. */
const runsPerFolder = 10

type Started = { readonly url: string; readonly keys?: { readonly api_key: string } }

async function nextLine(running: Program): Promise<Started> {
  for await (const line of running.lines) return JSON.parse(line) as Started
  throw new Error('the app did not start')
}

describe('an app that is killed', () => {
  for (const { name, redis, skip } of [
    { name: 'counts in memory', redis: '', skip: false },
    { name: 'counts in Redis', redis: redisUrl ?? '', skip: withoutRedis },
  ]) {
    it(
      `has every acknowledged charge once, and loses no other credits, if it ${name}`,
      {
        skip,
      },
      async (t) => {
        let [acknowledged, charged] = [0, 0]
        for (let from = 0; from < deaths.length; from += runsPerFolder) {
          const counted = await runThrough(deaths.slice(from, from + runsPerFolder), redis)
          acknowledged += counted.acknowledged
          charged += counted.charged
        }
        assert.ok(acknowledged > 0)
        t.diagnostic(
          `${deaths.length} processes were killed, ${acknowledged} answers arrived, ${charged} charges are stored`,
        )
      },
    )
  }
})

/** One process after the other on one folder; the ledger is consistent after each of them. */
async function runThrough(ends: readonly Death[], redis: string): Promise<{ acknowledged: number; charged: number }> {
  await using folder = await temporaryFolder()
  await using upstream = await startUpstream(answerWith('Hello', { input: 12, output: 3 }))
  const args = [folder.path, upstream.url, redis]
  const acknowledged = new Set<string>()
  let apiKey = ''
  for (const { at, times, afterMs } of ends) {
    await using running = startProgram(program, [...args, at, String(times)])
    const { url, keys } = await nextLine(running)
    apiKey = keys?.api_key ?? apiKey
    const over = new AbortController()
    const killing = sleep(afterMs, undefined, { signal: over.signal }).then(running.kill, () => {})
    await Promise.all(Array.from({ length: 4 }, () => sendUntilKilled(url, apiKey, acknowledged)))
    over.abort()
    await killing
    await assertWhole(folder.path)
    if (redis !== '') await assertShortLeases(redis)
  }
  const last = startProgram(program, [...args, '', '0'])
  await assertSpendable(await nextLine(last), apiKey)
  await last.kill()
  return { acknowledged: acknowledged.size, charged: await assertChargedOnce(folder.path, acknowledged, ends.length) }
}

/** A caller sends one request after the other until the connection breaks or the credits are used up. */
async function sendUntilKilled(url: string, apiKey: string, acknowledged: Set<string>): Promise<void> {
  const body = JSON.stringify({ ...question, max_tokens: 100 })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }
  for (;;) {
    const answer = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body }).catch(() => undefined)
    const text = await answer?.text().catch(() => undefined)
    if (answer === undefined || text === undefined || answer.status === 402) return
    assert.equal(answer.status, 200, text)
    acknowledged.add(answer.headers.get('x-request-id') ?? '')
  }
}

/** All granted credits are available, held or spent, and redundant sums agree. */
async function assertWhole(folder: string): Promise<void> {
  await using app = await connect(checkConfig({ storage: { data_dir: folder } }))
  assert.equal((await operatorOf(app).verifyLedger()).broken, null)
}

/** No slot in Redis is taken for longer than one lease from now. */
async function assertShortLeases(url: string): Promise<void> {
  using connection = connectRedis({ url, commandTimeoutMs: 10_000 })
  await connection.ready()
  const [seconds] = await connection.client.time()
  const latest = (Number(seconds) + 1) * 1000 + leaseMs
  for (const key of await connection.client.keys('rl2:{*}:l')) {
    // The leases of the organization: a letter, a zero byte, the expiry, the request id.
    for (const lease of await connection.client.zrangebylexBuffer(key, '[o', '(o\u0001'))
      assert.ok(lease.readUIntBE(2, 6) < latest, `a slot in ${key} outlives its lease`)
  }
}

async function assertSpendable({ url }: Started, apiKey: string): Promise<void> {
  const answer = await fetch(`${url}/v1/credits`, { headers: { authorization: `Bearer ${apiKey}` } })
  const { data } = (await answer.json()) as { data: { remaining_credits: number; total_usage: number } }
  assert.equal(data.remaining_credits, startingCredits - Math.round(data.total_usage * 1000))
}

async function assertChargedOnce(
  folder: string,
  acknowledged: ReadonlySet<string>,
  processCount: number,
): Promise<number> {
  await using app = await connect(checkConfig({ storage: { data_dir: folder } }))
  const entries = (await operatorOf(app).ledger(10_000)).filter(({ kind }) => kind === 'usage')
  const charged = new Set(entries.map(({ ref }) => ref))
  assert.equal(charged.size, entries.length)
  assert.deepEqual(
    [...acknowledged].filter((id) => !charged.has(id)),
    [],
  )
  for (const { credits } of entries) assert.equal(credits, -cost)
  // One answer of each of the four may have been charged and never arrived.
  assert.ok(entries.length - acknowledged.size <= processCount * 4)
  return entries.length
}
