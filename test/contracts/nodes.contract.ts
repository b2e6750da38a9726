import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { overrideStore } from '../../src/adapters/stores/sql/credits/limit-overrides.ts'
import { joinNodes } from '../../src/adapters/stores/sql/nodes.ts'
import { directoryStore } from '../../src/adapters/stores/sql/identity/directory.ts'
import { organizationOf } from '../support/credits.ts'
import type { Engine } from '../support/engines.ts'
import { createHandClock } from '../support/hand-clock.ts'

/** Cluster membership and limit overrides, on every engine. */
export function nodesContract({ name, skip, open }: Engine): void {
  describe(`cluster membership: ${name}`, { skip }, () => {
    it('counts nodes with a heartbeat, independent of their clocks', async () => {
      await using database = await open()
      await database.write([{ sql: 'delete from node' }])
      const failed = (error: unknown): never => assert.fail(String(error))
      const [near, far] = [createHandClock(), createHandClock()]
      await far.pass(987_654_321)
      await using here = await joinNodes({ database, clock: near.clock, ownId: 'here', onError: failed })
      assert.equal(here.count(), 1)
      const there = await joinNodes({ database, clock: far.clock, ownId: 'there', onError: failed })
      assert.equal(there.count(), 2)
      for (let count = 0; count < 10; count++) {
        await near.pass(9_000)
        await there.refresh()
        await here.refresh()
      }
      assert.ok(here.count() === 2 && here.isAlive('there') && there.isAlive('here'))
      for (let count = 0; count < 6; count++) {
        assert.ok(here.isAlive('there'))
        await near.pass(10_000)
        await here.refresh()
      }
      assert.equal(here.isAlive('there'), false)
      assert.equal(here.count(), 1)
      await there[Symbol.asyncDispose]()
      assert.deepEqual(await database.read('select id from node'), [{ id: 'here' }])
    })
  })

  describe(`limit overrides: ${name}`, { skip }, () => {
    it('are stored per subject, replaced as a whole, and removed', async () => {
      await using database = await open()
      await database.transaction((tx) => directoryStore(tx).insertOrganization(organizationOf('org_1')))
      const change = <T>(work: (store: ReturnType<typeof overrideStore>) => Promise<T>): Promise<T> =>
        database.transaction((tx) => work(overrideStore(tx)))
      const key = { scope: 'key', subjectId: 'key_1' } as const
      await change((store) => store.set('org_1', { ...key, limits: { rpm: 5, tpm: 7 } }))
      await change((store) => store.set('org_1', { ...key, limits: { rpm: 6 } }))
      assert.deepEqual(await change((store) => store.list('org_1')), [{ ...key, limits: { rpm: 6 } }])
      assert.deepEqual(await change((store) => store.list('org_2')), [])
      await change((store) => store.set('org_1', { ...key, limits: {} }))
      assert.deepEqual(await change((store) => store.list('org_1')), [])
    })
  })
}
