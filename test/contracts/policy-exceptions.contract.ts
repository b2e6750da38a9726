import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auditTexts } from '../../src/adapters/stores/sql/audit/texts.ts'
import type { Database, Transaction } from '../../src/adapters/stores/sql/database.ts'
import {
  expiredExceptions,
  exceptionStore,
  listExpiredExceptions,
} from '../../src/adapters/stores/sql/policies/exceptions.ts'
import { policyStore } from '../../src/adapters/stores/sql/policies/policies.ts'
import type { ExceptionStore, PolicyException } from '../../src/domain/exceptions/exception.ts'
import { createPolicy } from '../../src/domain/policy/lifecycle.ts'
import type { Engine } from '../support/engines.ts'

const owner = { organizationId: 'org_1', policyId: 'pol_1' }
const forUser: PolicyException = {
  id: 'exc_1',
  ...owner,
  subject: { kind: 'user', id: 'Größe 😀' },
  reason: 'The legal team',
  owner: 'legal',
  eventId: null,
  requestId: null,
  createdBy: 'adk_1',
  createdAtMs: 1,
  expiresAtMs: 2_000,
  endedAtMs: null,
  endedBy: null,
}
const forText: PolicyException = {
  ...forUser,
  id: 'exc_2',
  subject: { kind: 'text', digests: ['sha256:1', 'sha256:2'] },
  eventId: 'evt_1',
  requestId: 'req_1',
  expiresAtMs: 1_000,
}

/** The contract of every store of exceptions. */
export function policyExceptionContract({ name, skip, open }: Engine): void {
  describe(`exceptions of a policy: ${name}`, { skip }, () => {
    it('are read as they were written, and only with their policy and organization', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        for (const each of [forUser, forText]) await store.insert(each)
        assert.deepEqual([await store.find(owner, 'exc_1'), await store.find(owner, 'exc_2')], [forUser, forText])
        assert.deepEqual((await store.list(owner, { limit: 10, order: 'desc' })).items, [forText, forUser])
        for (const other of [
          { ...owner, policyId: 'pol_2' },
          { ...owner, organizationId: 'org_2' },
        ]) {
          assert.equal(await store.find(other, 'exc_1'), undefined)
          assert.equal(await store.countLive(other, 0), 0)
        }
        assert.deepEqual(await store.listLive('org_2', 0), [])
        assert.equal(await store.end({ organizationId: 'org_2', id: 'exc_1' }, 'adk_1', 5), false)
      })
    })

    it('are live up to their end, and the one that ends first is listed first', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        for (const each of [forUser, forText]) await store.insert(each)
        const liveAt = async (ms: number) => (await store.listLive('org_1', ms)).map(({ id }) => id)
        assert.deepEqual(await liveAt(999), ['exc_2', 'exc_1'])
        assert.deepEqual(await liveAt(1_000), ['exc_1'])
        assert.deepEqual(await liveAt(2_000), [])
        assert.deepEqual([await store.countLive(owner, 999), await store.countLive(owner, 1_000)], [2, 1])
      })
    })

    it('end early once, and not after they have expired', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        for (const each of [forUser, forText]) await store.insert(each)
        assert.equal(await store.end(forUser, 'adk_2', 500), true)
        assert.equal(await store.end(forUser, 'adk_3', 501), false)
        assert.equal(await store.end(forText, 'adk_2', 1_000), false)
        assert.deepEqual(await store.find(owner, 'exc_1'), { ...forUser, endedAtMs: 500, endedBy: 'adk_2' })
        assert.equal(await store.countLive(owner, 600), 1)
      })
    })

    it('are recorded as expired once, and not if they were ended before', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store, tx) => {
        for (const each of [forUser, forText]) await store.insert(each)
        await store.end(forUser, 'adk_2', 500)
        const expired = expiredExceptions(tx)
        const due = async (ms: number) => (await listExpiredExceptions(tx, ms)).map(({ id }) => id)
        assert.deepEqual([await due(999), await due(1_000), await due(5_000)], [[], ['exc_2'], ['exc_2']])
        assert.equal(await expired.markExpired(forUser), false)
        assert.equal(await expired.markExpired({ ...forText, organizationId: 'org_2' }), false)
        assert.equal(await expired.markExpired(forText), true)
        assert.equal(await expired.markExpired(forText), false)
        assert.deepEqual(await due(5_000), [])
        assert.deepEqual(await expired.find('org_1', 'exc_2'), forText)
      })
    })

    it('are deleted with their policy, and with the texts of their request', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store, tx) => {
        for (const each of [forUser, forText]) await store.insert(each)
        assert.equal(await auditTexts(tx).erase('org_2', 'req_1'), 0)
        assert.equal(await auditTexts(tx).erase('org_1', 'req_1'), 1)
        assert.deepEqual(await store.listLive('org_1', 0), [forUser])
        assert.equal(await policyStore(tx).remove({ organizationId: 'org_1', id: 'pol_1', revision: 1 }, 1), true)
        assert.deepEqual(await store.listLive('org_1', 0), [])
      })
    })
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const insert = 'insert into organization (id, name, changed_at, created_at) values ($1, $1, 1, 1)'
  await database.write(['org_1', 'org_2'].map((id) => ({ sql: insert, params: [id] })))
  const policy = createPolicy(
    { name: 'No names', rule: 'Say "no"' },
    { id: 'pol_1', organizationId: 'org_1', nowMs: 1 },
  )
  await database.transaction((tx) => policyStore(tx).insert(policy))
  return {
    use: <T>(work: (store: ExceptionStore, tx: Transaction) => Promise<T>): Promise<T> =>
      database.transaction((tx) => work(exceptionStore(tx), tx)),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
