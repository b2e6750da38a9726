import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import pg from 'pg'
import { createFastClock } from '../support/fast-clock.ts'
import { operatorOf } from '../support/operator.ts'
import { answerWith, question, startPaidApp, type PaidApp } from '../support/paid-app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { executeInFile } from '../support/sqlite-file.ts'

/** More than the free credits divided by the hold of one request. */
const attempts = 120

/** A balance that covers about twenty holds at once. */
const credits = { starting: 2_000 }

const answer = answerWith('Hello', { input: 12, output: 3 })

const send = async ({ app }: PaidApp): Promise<number> => {
  const response = await app.post('/v1/messages', question)
  await response.text()
  return response.status
}

async function untilReady({ app }: PaidApp, expected: RegExp): Promise<void> {
  for (;;) {
    const response = await app.get('/health/ready')
    if (expected.test(`${response.status} ${await response.text()}`)) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const ready = /^200 \{"status":"ready"\}$/

/** The same effect as a lost permission, which the owner of the table does not have to grant. */
const loseCharges = `
  create function lose() returns trigger language plpgsql as
    $$ begin raise exception 'permission denied for table charge' using errcode = '42501'; end $$;
  create trigger lost before insert on charge for each row execute function lose()`

describe('a database that rejects one write of a request', () => {
  it(
    'spools the charges on PostgreSQL, is degraded meanwhile, and writes each once afterwards',
    { skip: withoutPostgres },
    async () => {
      await using database = await createScratchDatabase()
      const client = new pg.Client({ connectionString: database.url })
      await client.connect()
      try {
        await using scene = await startPaidApp({
          config: { secret: 'a secret of sixteen and more', credits },
          storage: { database_url: database.url },
          clock: createFastClock(5),
        })
        scene.upstream.answer(answer)
        await client.query(loseCharges)
        for (let at = 0; at < attempts; at++) assert.equal(await send(scene), 200, `request ${at}`)
        await untilReady(scene, /^200 .*"degraded":\[\{"part":"storage","problem":"The database rejects writes/)
        await client.query('drop trigger lost on charge')
        await untilReady(scene, ready)
        for (;;) {
          if (Number((await client.query('select count(*) as n from charge')).rows[0].n) === attempts) break
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
        assert.equal((await operatorOf(scene.app.app).verifyLedger()).broken, null)
        assert.equal(await scene.remaining(), 2_000 - attempts * 15)
      } finally {
        await client.end()
      }
    },
  )

  it('keeps the upstream free of requests with embedded storage, and holds no credits for the rejected ones', async () => {
    await using folder = await temporaryFolder()
    await using scene = await startPaidApp({
      storage: { data_dir: folder.path },
      config: { credits },
      clock: createFastClock(5),
    })
    scene.upstream.answer(answer)
    const file = join(folder.path, 'gatehouse.db')
    await executeInFile(
      file,
      `create trigger lost before insert on charge begin select raise(abort, 'no more charges'); end`,
    )
    assert.equal(await send(scene), 503)
    const calls = scene.upstream.requests.length
    for (let at = 0; at < attempts; at++) assert.equal(await send(scene), 503)
    assert.equal(scene.upstream.requests.length, calls)
    await untilReady(scene, /^503 .*"failing":\[\{"part":"storage","problem":"The database rejects writes/)
    await executeInFile(file, 'drop trigger lost')
    await untilReady(scene, ready)
    assert.equal(await send(scene), 200)
    assert.equal(await scene.remaining(), 2_000 - 15)
    assert.equal((await operatorOf(scene.app.app).verifyLedger()).broken, null)
  })
})
