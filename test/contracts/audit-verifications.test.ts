import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  releaseVerificationLeases,
  verificationQueue,
  verificationStore,
} from '../../src/adapters/stores/sql/audit/verifications.ts'
import type { Verification } from '../../src/domain/audit/verification/verification.ts'
import { openAuditLog } from '../support/audit-log.ts'
import { engines } from '../support/engines.ts'

const verificationOf = (number: number, organizationId = 'org_1'): Verification => ({
  id: `aver_${String(number).padStart(4, '0')}`,
  organizationId,
  state: 'running',
  from: null,
  to: 7,
  checked: 0,
  total: 7,
  cursor: null,
  result: null,
  createdAtMs: 1,
  updatedAtMs: 1,
})

for (const { name, skip, open } of engines) {
  describe(`verifications of the audit log: ${name}`, { skip }, () => {
    const openScene = async () => {
      const database = await open()
      const { clock } = await openAuditLog(database)
      return {
        database,
        clock,
        insert: (one: Verification) => database.transaction((tx) => verificationStore(tx).insert(one)),
        store: verificationStore({
          query: (sql, params) => database.read(sql, params),
          run: () => Promise.reject(new Error('read only')),
        }),
        queueOf: (owner: string) => verificationQueue({ database, clock, owner, leaseMs: 1_000 }),
        [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
      }
    }

    it('runs one at a time for each organization', async () => {
      await using scene = await openScene()
      const inserted = await Promise.all([scene.insert(verificationOf(1)), scene.insert(verificationOf(2))])
      assert.deepEqual(inserted.toSorted(), [false, true])
      assert.equal(await scene.insert(verificationOf(3, 'org_2')), true)
      assert.equal((await scene.store.findRunning('org_1'))?.organizationId, 'org_1')
      assert.equal(await scene.store.find('org_1', 'aver_0003'), undefined)
    })

    it('leases each verification to one node, and takes results from it alone', async () => {
      await using scene = await openScene()
      await scene.insert(verificationOf(1))
      const [one, two] = [scene.queueOf('one'), scene.queueOf('two')]
      const claimed = (await Promise.all([one.claim(), two.claim()])).filter((each) => each !== undefined)
      assert.deepEqual(claimed, [verificationOf(1)])
      scene.clock.passMs(1_000)
      assert.equal((await two.claim())?.id, 'aver_0001')
      const firstBad = { part: 'event', sequence: 3, reason: 'altered' } as const
      const result = { isWhole: false, firstBad, signedTo: 2, overdueFrom: null, uncheckedTexts: 0 }
      const completed: Verification = { ...verificationOf(1), state: 'completed', checked: 2, result, updatedAtMs: 9 }
      assert.equal(await one.save(completed), false)
      const cursor = { chainUid: 'org_1/1', sequence: 1, fingerprint: 'f', first: 1, uncheckedTexts: 0 }
      assert.equal(await two.save({ ...verificationOf(1), checked: 1, cursor }), true)
      assert.deepEqual(await scene.store.findRunning('org_1'), { ...verificationOf(1), checked: 1, cursor })
      assert.equal(await two.save(completed), true)
      assert.deepEqual(await scene.store.find('org_1', 'aver_0001'), completed)
      await releaseVerificationLeases(scene.database)
      assert.equal(await one.claim(), undefined)
    })

    it('keeps the newest twenty', async () => {
      await using scene = await openScene()
      const queue = scene.queueOf('one')
      for (let number = 1; number <= 22; number++) {
        await scene.insert(verificationOf(number))
        await queue.claim()
        await queue.save({ ...verificationOf(number), state: 'completed' })
      }
      const { items } = await scene.store.list('org_1', { limit: 100, order: 'asc' })
      assert.deepEqual([items.length, items[0]?.id], [20, 'aver_0003'])
    })
  })
}
