import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { gatewayStore } from '../../src/adapters/stores/sql/policies/gateway-configurations.ts'
import { directoryStore } from '../../src/adapters/stores/sql/identity/directory.ts'
import { withDefaults } from '../../src/domain/gateway-config/complete.ts'
import { defaultConfiguration } from '../../src/domain/gateway-config/configuration.ts'
import type { GatewayStore } from '../../src/domain/gateway-config/store.ts'
import type { Engine } from '../support/engines.ts'
import { rejectsWith } from '../support/rejects-with.ts'

type Configuration = typeof defaultConfiguration

const newest = { limit: 2, order: 'desc' } as const
const named = (name: string) => withDefaults({ name })

/** The contract of every store of gateway configurations. */
export function gatewayContract({ name: engine, skip, open }: Engine): void {
  describe(`gateway configurations: ${engine}`, { skip }, () => {
    it('do not exist before the first save', async () => {
      await using scene = await openScene(open)
      await scene.work(async (store) => {
        assert.equal(await store.find('org_1'), undefined)
        assert.deepEqual(await store.listVersions('org_1', newest), { items: [], hasMore: false })
        assert.equal(await store.rollBack('org_1', 1), false)
      })
    })

    it('are read as they were saved, with the times of the first and the last save', async () => {
      await using scene = await openScene(open)
      const config = withDefaults({
        name: 'Ünïcode 😀',
        rules: { denylist: ['"quoted"', '/a\\/b/i'], flagged_categories: ['hate'] },
        org_controls: { user_quota: { requests: Number.MAX_SAFE_INTEGER } },
        rollout: { canary: { enabled: true, sample_percent: 12.5, targets: ['eu'] } },
      })
      assert.ok(await scene.save(config, { version: 0, nowMs: 10 }))
      const first = { config, version: 1, isRolledBack: false, createdAtMs: 10, updatedAtMs: 10 }
      assert.deepEqual(await scene.work((store) => store.find('org_1')), first)
      assert.ok(await scene.save(named('Second'), { version: 1, nowMs: 20 }))
      const second = { ...first, config: named('Second'), version: 2, updatedAtMs: 20 }
      assert.deepEqual(await scene.work((store) => store.find('org_1')), second)
    })

    it('accept one of several saves against the same version', async () => {
      await using scene = await openScene(open)
      for (const version of [0, 1]) {
        const saves = ['a', 'b', 'c', 'd'].map((name) => scene.save(named(name), { version, nowMs: 1 }))
        assert.deepEqual((await Promise.all(saves)).filter(Boolean), [true])
        assert.equal((await scene.work((store) => store.find('org_1')))?.version, version + 1)
      }
      assert.equal(await scene.save(named('late'), { version: 0, nowMs: 1 }), false)
      assert.equal(await scene.save(named('early'), { version: 7, nowMs: 1 }), false)
      assert.equal((await scene.work((store) => store.listVersions('org_1', newest))).items.length, 2)
    })

    it('are rolled back once, at the version that spiked, until the next save', async () => {
      await using scene = await openScene(open)
      await scene.save(defaultConfiguration, { version: 0, nowMs: 1 })
      await scene.work(async (store) => {
        assert.equal(await store.rollBack('org_1', 2), false)
        assert.equal(await store.rollBack('org_1', 1), true)
        assert.equal(await store.rollBack('org_1', 1), false)
        assert.equal((await store.find('org_1'))?.isRolledBack, true)
      })
      await scene.save(defaultConfiguration, { version: 1, nowMs: 2 })
      assert.equal((await scene.work((store) => store.find('org_1')))?.isRolledBack, false)
    })

    it('keep every version, and list them by number', async () => {
      await using scene = await openScene(open)
      for (const [version, id] of ['gwcv_c', 'gwcv_a', 'gwcv_b'].entries()) {
        await scene.save(named(id), { version, nowMs: version + 1, id })
      }
      await scene.work(async (store) => {
        const { items, hasMore } = await store.listVersions('org_1', newest)
        assert.deepEqual(items[0], {
          id: 'gwcv_b',
          version: 3,
          config: named('gwcv_b'),
          createdAtMs: 3,
          createdBy: 'adk_1',
        })
        assert.deepEqual([items.map(({ version }) => version), hasMore], [[3, 2], true])
        const rest = await store.listVersions('org_1', { ...newest, after: 'gwcv_a' })
        assert.deepEqual([rest.items.map(({ version }) => version), rest.hasMore], [[1], false])
      })
    })

    it('are known as an earlier version, also if a field was added since', async () => {
      await using scene = await openScene(open)
      const { prompt_injection: _added, ...rules } = defaultConfiguration.rules
      const before: Configuration = { ...named('Before'), rules: rules as Configuration['rules'] }
      await scene.save(before, { version: 0, nowMs: 1 })
      await scene.save(named('After'), { version: 1, nowMs: 2 })
      await scene.work(async (store) => {
        assert.equal(await store.hasVersion('org_1', named('Before')), true)
        assert.equal(await store.hasVersion('org_1', named('After')), true)
        assert.equal(await store.hasVersion('org_1', named('Never')), false)
        assert.equal(await store.hasVersion('org_2', named('Before')), false)
      })
    })

    it('are invisible to other organizations', async () => {
      await using scene = await openScene(open)
      await scene.save(named('Mine'), { version: 0, nowMs: 1, id: 'gwcv_mine' })
      await scene.work(async (store) => {
        assert.equal(await store.find('org_2'), undefined)
        assert.deepEqual((await store.listVersions('org_2', newest)).items, [])
        assert.equal(await store.rollBack('org_2', 1), false)
        assert.equal(
          await store.save('org_2', named('Theirs'), { version: 1, nowMs: 2, id: 'gwcv_theirs', savedBy: 'adk_2' }),
          false,
        )
      })
      await assert.rejects(
        scene.work((store) => store.listVersions('org_2', { ...newest, after: 'gwcv_mine' })),
        rejectsWith('invalid_cursor'),
      )
    })
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const work = <T>(use: (store: GatewayStore) => Promise<T>): Promise<T> =>
    database.transaction((tx) => use(gatewayStore(tx)))
  await database.transaction(async (tx) => {
    for (const id of ['org_1', 'org_2']) {
      const organization = { id, name: id, plan: 'free', lifetimePaidMicroUsd: 0, metered: true, createdAtMs: 1 }
      await directoryStore(tx).insertOrganization(organization)
    }
  })
  let saves = 0
  return {
    work,
    save: (
      config: Parameters<GatewayStore['save']>[1],
      { id = `gwcv_${++saves}`, ...at }: { version: number; nowMs: number; id?: string },
    ) => work((store) => store.save('org_1', config, { id, savedBy: 'adk_1', ...at })),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
