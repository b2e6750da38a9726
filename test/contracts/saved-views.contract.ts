import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { savedViewStore } from '../../src/adapters/stores/sql/identity/saved-views.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import type { SavedView, ViewStore } from '../../src/domain/views/view-store.ts'
import type { Engine } from '../support/engines.ts'

const view: SavedView = {
  id: 'view_1',
  organizationId: 'org_1',
  ownerId: 'adk_1',
  name: 'Größe 😀',
  page: 'requests',
  query: 'status=denied',
  isShared: false,
  createdAtMs: 1,
  updatedAtMs: 2,
}
const owner = { organizationId: 'org_1', ownerId: 'adk_1' }
const other = { organizationId: 'org_1', ownerId: 'mem_1' }
const all = { limit: 10, order: 'asc' } as const

/** The contract of every store of views. */
export function savedViewContract({ name, skip, open }: Engine): void {
  describe(`saved views: ${name}`, { skip }, () => {
    it('are read as they were written, by their owner, and by others if they are shared', async () => {
      await using scene = await openScene(open)
      await scene.use((store) => store.insert(view))
      assert.deepEqual(await scene.use((store) => store.find(owner, view.id)), view)
      assert.equal(await scene.use((store) => store.find(other, view.id)), undefined)
      const changed = { ...view, name: 'Other', query: '', isShared: true, updatedAtMs: 3 }
      await scene.use((store) => store.update(changed))
      assert.deepEqual(await scene.use((store) => store.find(other, view.id)), changed)
      assert.equal(await scene.use((store) => store.find({ ...owner, organizationId: 'org_2' }, view.id)), undefined)
      await scene.use((store) => store.delete('org_1', view.id))
      assert.equal(await scene.use((store) => store.find(owner, view.id)), undefined)
    })

    it('are listed and counted', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        await store.insert(view)
        await store.insert({ ...view, id: 'view_2', isShared: true, page: 'audit' })
        await store.insert({ ...view, id: 'view_3', ownerId: 'mem_1' })
        await store.insert({ ...view, id: 'view_4', organizationId: 'org_2', isShared: true })
      })
      const ids = async (reader: typeof owner, page = {}) =>
        (await scene.use((store) => store.list(reader, { ...all, ...page }))).items.map(({ id }) => id)
      assert.deepEqual(await ids(owner), ['view_1', 'view_2'])
      assert.deepEqual(await ids(other), ['view_2', 'view_3'])
      assert.deepEqual(await ids(other, { page: 'audit' }), ['view_2'])
      assert.deepEqual(await ids(owner, { after: 'view_1' }), ['view_2'])
      assert.deepEqual(await scene.use((store) => Promise.all([store.count(owner), store.count(other)])), [2, 1])
    })
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const insert = 'insert into organization (id, name, changed_at, created_at) values ($1, $1, 1, 1)'
  await database.write(['org_1', 'org_2'].map((id) => ({ sql: insert, params: [id] })))
  return {
    use: <T>(work: (store: ViewStore) => Promise<T>): Promise<T> =>
      database.transaction((tx) => work(savedViewStore(tx))),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
