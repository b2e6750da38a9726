import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemRandom } from '../../src/base/random.ts'
import { createEncryption } from '../../src/base/encryption.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { idempotencyStore, removeExpiredReplies } from '../../src/adapters/stores/sql/identity/idempotency.ts'
import { doOnce, type IdempotencyStore, type RepeatableReply } from '../../src/domain/mutations/idempotency.ts'
import type { Engine } from '../support/engines.ts'
import { rejectsWith } from '../support/rejects-with.ts'

const dayMs = 24 * 60 * 60 * 1000
const scope = { organizationId: 'org_1', credentialId: 'adk_1', key: 'k' }
const reply = {
  status: 201,
  headers: { 'x-gatehouse-warning': 'w' },
  body: { value: 'adm_secret', list: [1] },
}

/** Idempotency, on every engine. */
export function idempotencyContract({ name, skip, isParallel, open }: Engine): void {
  describe(`idempotency: ${name}`, { skip }, () => {
    it('does the work once and replays the response', async () => {
      await using scene = await openScene(open)
      const first = await scene.send()
      const second = await scene.send()
      assert.deepEqual(first, { reply, isReplayed: false })
      assert.deepEqual(second, { reply, isReplayed: true })
      assert.equal(scene.worked(), 1)
    })

    it('rejects another request with the same key', async () => {
      await using scene = await openScene(open)
      await scene.send()
      await assert.rejects(scene.send({ fingerprint: 'other' }), rejectsWith('idempotency_key_reused'))
    })

    it('separates credentials and organizations', async () => {
      await using scene = await openScene(open)
      await scene.send()
      await scene.send({ scope: { ...scope, credentialId: 'adk_2' }, fingerprint: 'other' })
      await scene.send({ scope: { ...scope, organizationId: 'org_2' }, fingerprint: 'other' })
      assert.equal(scene.worked(), 3)
    })

    it('stores nothing if the work fails', async () => {
      await using scene = await openScene(open)
      await assert.rejects(
        scene.send({}, () => Promise.reject(new Error('no'))),
        /no/,
      )
      assert.deepEqual(await scene.send(), { reply, isReplayed: false })
    })

    it('stores replies for 24 hours', async () => {
      await using scene = await openScene(open)
      await scene.send({ nowMs: 1 })
      await scene.send({ nowMs: dayMs })
      assert.equal(scene.worked(), 1)
      await scene.send({ nowMs: dayMs + 1, fingerprint: 'other' })
      assert.equal(scene.worked(), 2)
    })

    it('does the work once for concurrent requests', async () => {
      await using scene = await openScene(open)
      const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => scene.send()))
      assert.equal(scene.worked(), 1)
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') assert.ok(rejectsWith('idempotency_in_progress')(outcome.reason))
        else assert.equal(outcome.value.reply.status, 201)
      }
    })

    if (isParallel) {
      it('reports that the first is still running', async () => {
        await using scene = await openScene(open)
        const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
        const { promise: began, resolve: begin } = Promise.withResolvers<void>()
        const first = scene.send({}, async () => {
          begin()
          await mayEnd
          return reply
        })
        await began
        await assert.rejects(scene.send(), rejectsWith('idempotency_in_progress'))
        end()
        assert.deepEqual(await first, { reply, isReplayed: false })
        assert.equal((await scene.send()).isReplayed, true)
      })
    }

    it('stores no secret in plain text', async () => {
      await using scene = await openScene(open)
      await scene.send()
      const rows = await scene.database.read<{ reply: Uint8Array }>('select reply from idempotency')
      assert.equal(rows.length, 1)
      assert.equal(Buffer.from(rows[0]?.reply ?? []).includes('adm_secret'), false)
    })

    it('removes expired replies', async () => {
      await using scene = await openScene(open)
      await scene.send({ nowMs: 1 })
      await scene.send({ nowMs: 1000, scope: { ...scope, key: 'later' } })
      await removeExpiredReplies(scene.database, dayMs + 1)
      assert.deepEqual(await scene.database.read('select key from idempotency'), [{ key: 'later' }])
    })
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const seal = createEncryption(systemRandom.bytes(32), systemRandom)
  const insert = 'insert into organization (id, name, changed_at, created_at) values ($1, $1, 1, 1)'
  await database.write(['org_1', 'org_2'].map((id) => ({ sql: insert, params: [id] })))
  let worked = 0
  const store = <T>(use: (store: IdempotencyStore) => Promise<T>): Promise<T> =>
    database.transaction((tx) => use(idempotencyStore(tx, { engine: database.engine, encryption: seal })))
  const answer = async (): Promise<typeof reply> => {
    worked++
    return reply
  }
  return {
    database,
    worked: () => worked,
    async send(
      request: Partial<Parameters<typeof doOnce>[1]> = {},
      work = answer,
    ): Promise<RepeatableReply<typeof reply>> {
      const attempt = { scope, fingerprint: 'f', nowMs: 1, ...request }
      const { value } = await store((rows) => doOnce(rows, attempt, async () => ({ value: await work() })))
      return value
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
