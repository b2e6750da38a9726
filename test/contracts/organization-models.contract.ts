import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { organizationModelStore } from '../../src/adapters/stores/sql/models/organization-models.ts'
import { createEncryption } from '../../src/base/encryption.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { OrganizationModelStore, StoredEntry } from '../../src/domain/organization-models/stored.ts'
import { openAuditLog } from '../support/audit-log.ts'
import type { Engine } from '../support/engines.ts'

const entry = (id: string, more: Partial<StoredEntry> = {}): StoredEntry => ({
  id,
  organizationId: 'org_1',
  name: id,
  settings: { kind: 'openai-chat', api_key: '••••cdef' },
  isPaused: false,
  revision: 1,
  createdAtMs: 1,
  updatedAtMs: 1,
  ...more,
})
const secrets = { api_key: 'the-key-of-the-upstream-abcdef', 'headers.x-team': 'the-header-of-the-upstream' }

/** Upstreams and models that organizations added, on every engine. */
export function organizationModelContract({ name, skip, open }: Engine): void {
  describe(`upstreams and models of organizations: ${name}`, { skip }, () => {
    it('are loaded with their secrets, and only those of the organization', async () => {
      await using scene = await openScene(open)
      const { within } = scene
      const [upstream, model] = [entry('ups_1'), entry('mdl_1', { settings: { targets: [] }, isPaused: true })]
      assert.equal(await within((store) => store.load('org_1')), undefined)
      assert.ok(await within((store) => store.insertUpstream(upstream, secrets)))
      assert.ok(await within((store) => store.insertModel(model)))
      assert.ok(await within((store) => store.insertUpstream(entry('ups_2', { organizationId: 'org_2' }), {})))
      const loaded = (await within((store) => store.load('org_1'))) ?? assert.fail()
      assert.deepEqual([loaded.upstreams, loaded.models], [[upstream], [model]])
      assert.deepEqual(loaded.secrets, new Map([['ups_1', secrets]]))
      assert.deepEqual(await within((store) => store.listModels('org_2')), [])
    })

    it('have encrypted secrets, each bound to its upstream and field', async () => {
      await using scene = await openScene(open)
      const { within, database } = scene
      await within((store) => store.insertUpstream(entry('ups_1'), secrets))
      await within((store) => store.insertUpstream(entry('ups_2'), {}))
      const rows = await database.read<{ sealed: Uint8Array }>('select sealed from stored_upstream_secret')
      for (const { sealed } of rows) assert.doesNotMatch(Buffer.from(sealed).toString('latin1'), /the-(key|header)/)
      await database.write([{ sql: "update stored_upstream_secret set upstream_id = 'ups_2'" }])
      await assert.rejects(within((store) => store.secretsOf(entry('ups_2'))))
      const loaded = await within((store) => store.load('org_1'))
      assert.deepEqual([...(loaded?.secrets.keys() ?? [])], ['ups_1'], 'the others can still be used')
    })

    it('have a name that is unique in the organization', async () => {
      await using scene = await openScene(open)
      const { within } = scene
      for (const insert of ['insertUpstream', 'insertModel'] as const) {
        assert.ok(await within((store) => store[insert](entry(`${insert}1`, { name: 'same' }), {})))
        assert.ok(!(await within((store) => store[insert](entry(`${insert}2`, { name: 'same' }), {}))))
        const other = entry(`${insert}3`, { name: 'same', organizationId: 'org_2' })
        assert.ok(await within((store) => store[insert](other, {})))
      }
    })

    it('change only if the revision is unchanged, and only in their organization', async () => {
      await using scene = await openScene(open)
      const { within } = scene
      await within((store) => store.insertUpstream(entry('ups_1'), secrets))
      await within((store) => store.insertModel(entry('mdl_1')))
      const change = { settings: { kind: 'echo' }, isPaused: true, revision: 2, updatedAtMs: 9 }
      const upstream = entry('ups_1', change)
      assert.ok(!(await within((store) => store.replaceUpstream({ ...upstream, organizationId: 'org_2' }, {}))))
      assert.ok(await within((store) => store.replaceUpstream(upstream, { api_key: 'another' })))
      assert.ok(!(await within((store) => store.replaceUpstream(upstream, {}))))
      assert.ok(await within((store) => store.replaceModel(entry('mdl_1', change))))
      assert.ok(!(await within((store) => store.replaceModel(entry('mdl_1', change)))))
      const loaded = await within((store) => store.load('org_1'))
      assert.deepEqual(loaded?.upstreams, [upstream])
      assert.deepEqual(loaded?.models, [entry('mdl_1', change)])
      assert.deepEqual(await within((store) => store.secretsOf(upstream)), { api_key: 'another' })
    })

    it('are removed with their secrets', async () => {
      await using scene = await openScene(open)
      const { within, database } = scene
      await within((store) => store.insertUpstream(entry('ups_1'), secrets))
      await within((store) => store.insertModel(entry('mdl_1')))
      assert.ok(await within((store) => store.removeUpstream(entry('ups_1'))))
      assert.ok(await within((store) => store.removeModel(entry('mdl_1'))))
      assert.ok(!(await within((store) => store.removeModel(entry('mdl_1')))))
      assert.equal(await within((store) => store.load('org_1')), undefined)
      assert.deepEqual(await database.read('select * from stored_upstream_secret'), [])
    })
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  await openAuditLog(database)
  const encryption = createEncryption(new Uint8Array(32).fill(7), systemRandom)
  return {
    database,
    within: <T>(work: (store: OrganizationModelStore) => Promise<T>): Promise<T> =>
      database.transaction((tx) => work(organizationModelStore(tx, encryption))),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
