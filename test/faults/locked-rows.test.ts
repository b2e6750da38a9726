import assert from 'node:assert/strict'
import { it } from 'node:test'
import pg from 'pg'
import { operatorOf } from '../support/operator.ts'
import { answerWith, question, startPaidApp } from '../support/paid-app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'

const count = 3

it(
  'rows that another transaction has locked do not stop the requests of their organization',
  { skip: withoutPostgres },
  async () => {
    await using database = await createScratchDatabase()
    await using scene = await startPaidApp({
      config: { secret: 'a secret of sixteen and more' },
      storage: { database_url: database.url },
    })
    scene.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
    const send = async (): Promise<number> => (await scene.app.post('/v1/messages', question)).status
    assert.equal(await send(), 200)
    const before = await scene.remaining()
    const other = new pg.Client({ connectionString: database.url })
    await other.connect()
    try {
      await other.query('begin')
      await other.query('select * from credit_account for update')
      await other.query('select * from audit_chain for update')
      const released = other.query('select pg_sleep(15)').then(() => 'released' as const)
      for (let at = 0; at < count; at++) assert.equal(await Promise.race([send(), released]), 200)
      await other.query('rollback')
    } finally {
      await other.end()
    }
    while ((await scene.remaining()) !== before - count * 15) await new Promise((resolve) => setTimeout(resolve, 50))
    assert.equal((await operatorOf(scene.app.app).verifyLedger()).broken, null)
    const { headers } = { headers: { authorization: `Bearer ${scene.app.adminKey}` } }
    for (;;) {
      const answer = await scene.app.get('/v1/organization/audit_logs?kind=gateway.request.decided', headers)
      const { data } = (await answer.json()) as { data: unknown[] }
      if (data.length === count + 1) break
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  },
)
