import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import pg from 'pg'
import { pingRedis } from '../../scripts/test/redis.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { redisUrl, withoutRedis } from '../support/redis.ts'

describe("the tests' PostgreSQL", { skip: withoutPostgres }, () => {
  it('gives each suite an empty database and drops it afterwards', async () => {
    const scratch = await createScratchDatabase()
    const client = new pg.Client({ connectionString: scratch.url })
    await client.connect()
    const { rows } = await client.query("select count(*)::int as tables from pg_tables where schemaname = 'public'")
    assert.deepEqual(rows, [{ tables: 0 }])
    await client.end()
    await scratch[Symbol.asyncDispose]()
    const late = new pg.Client({ connectionString: scratch.url })
    await assert.rejects(late.connect(), { code: '3D000' })
  })

  it('flushes writes to disk, which the fault suites depend on', async () => {
    await using scratch = await createScratchDatabase()
    const client = new pg.Client({ connectionString: scratch.url })
    await client.connect()
    const { rows } = await client.query('show fsync')
    await client.end()
    assert.deepEqual(rows, [{ fsync: 'on' }])
  })
})

describe("the tests' Redis", { skip: withoutRedis }, () => {
  it('answers', async () => {
    assert.ok(redisUrl)
    await pingRedis(redisUrl)
  })

  it('rejects a client without its password', async () => {
    assert.ok(redisUrl)
    const withoutPassword = new URL(redisUrl)
    withoutPassword.password = 'wrong'
    await assert.rejects(pingRedis(withoutPassword.href), /WRONGPASS|invalid password/)
  })
})
