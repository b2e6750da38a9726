import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import pg from 'pg'
import { systemRandom } from '../../src/base/random.ts'
import { mintSecret } from '../../src/domain/identity/key-format.ts'
import { answerWith, question, startPaidApp, type PaidApp } from '../support/paid-app.ts'
import { startPostgresServer, withoutPostgresServer, type PostgresServer } from '../support/postgres-server.ts'
import { operatorOf } from '../support/operator.ts'

const cost = 15
/** More than callers can use while the server is paused and afterwards. */
const startingCredits = 100_000_000
const send = ({ app }: PaidApp): Promise<Response> => app.post('/v1/messages', question)

async function query({ url }: PostgresServer, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

type Scene = AsyncDisposable & { readonly server: PostgresServer; readonly paid: PaidApp }

/** A PostgreSQL server, and a node on it that has cached its caller. */
async function startScene(): Promise<Scene> {
  const opened = new AsyncDisposableStack()
  const server = opened.use(await startPostgresServer())
  const storage = { database_url: server.url, database_timeout_ms: 1_000 }
  const config = { secret: 'a secret of sixteen and more', credits: { starting: startingCredits } }
  const paid = opened.use(await startPaidApp({ config, storage }))
  paid.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
  assert.equal((await send(paid)).status, 200)
  // By then the node has seen its own setup among the changes, and does not read the key again.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  assert.equal((await send(paid)).status, 200)
  return { server, paid, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

async function waitingIn({ app }: PaidApp): Promise<Record<string, number>> {
  const text = await (await app.get('/metrics')).text()
  const figure = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  return {
    charges: figure('gatehouse_charges_waiting'),
    events: figure('gatehouse_audit_events_waiting'),
    responses: figure('gatehouse_responses_waiting'),
  }
}

async function untilWritten({ paid }: Scene): Promise<void> {
  while (Object.values(await waitingIn(paid)).some((count) => count > 0)) await new Promise((r) => setTimeout(r, 50))
}

/** Every answer is charged once and audited once, and the sums and the chain are intact. */
async function assertWrittenOnce({ server, paid }: Scene, answered: number): Promise<void> {
  const operator = operatorOf(paid.app.app)
  assert.equal((await operator.verifyLedger()).broken, null)
  assert.equal((await operator.verifyAuditLog()).finding, undefined)
  assert.equal(await paid.remaining(), startingCredits - answered * cost)
  const [charges] = await query(server, 'select count(*) as all, count(distinct request_id) as apart from charge')
  assert.deepEqual(charges, { all: String(answered), apart: String(answered) })
  const [events] = await query(
    server,
    'select count(*) as all, count(distinct request_id) as apart from audit_event where request_id in (select request_id from charge)',
  )
  assert.deepEqual(events, charges)
}

// Without the circuit breaker each of these requests waits for six to ten seconds, and a test times out.
const timed = { timeout: 120_000 }

describe('a PostgreSQL that hangs', { skip: withoutPostgresServer }, () => {
  it('does not block: requests are answered, the rest is rejected, and all is written once later', timed, async () => {
    await using scene = await startScene()
    const { server, paid } = scene
    const { app } = paid
    server.pause()
    for (let count = 0; count < 20; count++) assert.equal((await send(paid)).status, 200)
    const stored = await app.post('/v1/responses', { model: 'paid', input: 'hi', max_output_tokens: 50 })
    assert.equal(stored.status, 200)
    assert.deepEqual(await waitingIn(paid), { charges: 21, events: 21, responses: 1 })

    const rejected = [
      await app.get('/v1/organization/projects', { authorization: `Bearer ${app.adminKey}` }),
      await app.post('/v1/messages', question, { authorization: `Bearer ${mintSecret('ak', systemRandom)}` }),
      await app.get('/v1/credits'),
      await app.get('/v1/responses/resp_1'),
    ]
    for (const answer of rejected) {
      assert.equal(answer.status, 503)
      assert.ok(Number(answer.headers.get('retry-after')) >= 1)
    }
    const ready = await app.get('/health/ready')
    assert.equal(ready.status, 200)
    assert.match(await ready.text(), /"degraded":\[\{"part":"storage"/)

    server.resume()
    await untilWritten(scene)
    const { id } = (await stored.json()) as { id: string }
    assert.equal((await app.get(`/v1/responses/${id}`)).status, 200)
    await assertWrittenOnce(scene, 23)
  })

  it('does nothing twice that it finishes after the caller has given up', timed, async () => {
    await using scene = await startScene()
    const { server, paid } = scene
    let answered = 2
    let isOver = false
    const keepAsking = async (): Promise<void> => {
      while (!isOver) {
        const { status } = await send(paid)
        // Eight parallel requests may need more credits than the slice of the node has.
        assert.ok(status === 200 || status === 503, String(status))
        if (status === 200) answered++
      }
    }
    const callers = Array.from({ length: 8 }, keepAsking)
    for (let round = 0; round < 3; round++) {
      server.pause() // in the middle of statements and commits
      while ((await waitingIn(paid))['charges'] === 0) await new Promise((r) => setTimeout(r, 20))
      server.resume()
      await untilWritten(scene)
    }
    isOver = true
    await Promise.all(callers)
    await untilWritten(scene)
    await assertWrittenOnce(scene, answered)
  })

  it('counts as hung while its reads are answered and its commits are not', timed, async () => {
    await using scene = await startScene()
    const { server, paid } = scene
    await query(server, "alter system set synchronous_standby_names = 'nobody'")
    await query(server, 'select pg_reload_conf()')
    for (let count = 0; count < 5; count++) assert.equal((await send(paid)).status, 200)
    await query(server, 'alter system reset synchronous_standby_names')
    await query(server, 'select pg_reload_conf()')
    await untilWritten(scene)
    await assertWrittenOnce(scene, 7)
  })
})
