import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { policyStore } from '../../src/adapters/stores/sql/policies/policies.ts'
import { directoryStore } from '../../src/adapters/stores/sql/identity/directory.ts'
import { createPolicyAdministration } from '../../src/domain/policy/mutations.ts'
import { createPolicy, publishPolicy, updatePolicy } from '../../src/domain/policy/lifecycle.ts'
import { summaryOf, type Policy } from '../../src/domain/policy/policy.ts'
import type { PolicyStore } from '../../src/domain/policy/store.ts'
import type { Engine } from '../support/engines.ts'
import { createHandClock } from '../support/hand-clock.ts'
import { fieldSamples } from '../support/policy-fields.ts'
import { rejectsWith } from '../support/rejects-with.ts'

const newest = { limit: 2, order: 'desc' } as const

/** The contract of every policy store. */
export function policyContract({ name, skip, open }: Engine): void {
  describe(`policy store: ${name}`, { skip }, () => {
    it('returns a policy as it was stored, before and after publication', async () => {
      await using scene = await openScene(open)
      const draft = await scene.put('pol_1', { projectIds: ['proj_a'], matchThresholdBasisPoints: 7000 })
      assert.deepEqual(await scene.work((store) => store.find('org_1', 'pol_1')), draft)
      const published = await scene.publish(draft)
      assert.deepEqual(await scene.work((store) => store.find('org_1', 'pol_1')), published)
    })

    for (const { key, values } of fieldSamples('proj_a'))
      it(`stores a change of ${key} alone, in the draft and in the version`, async () => {
        await using scene = await openScene(open)
        let policy = await scene.publish(
          await scene.put('pol_1', key === 'projectIds' ? {} : { projectIds: ['proj_a'] }),
          'polv_0',
        )
        for (const [at, value] of values.entries()) {
          const changed = await scene.change(policy, { [key]: value })
          assert.equal(changed.revision, policy.revision + 1)
          policy = await scene.publish(changed, `polv_${at + 1}`)
          const stored = await scene.work((store) => store.find('org_1', 'pol_1'))
          assert.deepEqual(stored, policy)
          assert.deepEqual([stored?.draft[key], stored?.published?.[key]], [value, value])
          assert.deepEqual(await scene.work((store) => store.findVersion(policy, at + 2)), policy.published)
        }
      })

    it('finds nothing under another organization', async () => {
      await using scene = await openScene(open)
      const policy = await scene.publish(await scene.put('pol_1'))
      const foreign = { ...policy, organizationId: 'org_2' }
      await scene.work(async (store) => {
        assert.equal(await store.find('org_2', 'pol_1'), undefined)
        assert.equal(await store.findVersion(foreign, 1), undefined)
        assert.deepEqual((await store.listVersions(foreign, newest)).items, [])
        assert.deepEqual((await store.list('org_2', newest)).items, [])
        assert.equal(await store.replace({ ...foreign, name: 'taken' }, policy.revision), false)
        assert.equal(await store.remove(foreign, 1), false)
        assert.deepEqual(await store.find('org_1', 'pol_1'), policy)
      })
    })

    it('accepts one of two changes against the same revision', async () => {
      await using scene = await openScene(open)
      const policy = await scene.put('pol_1')
      const change = (newName: string) =>
        scene.work((store) => store.replace(updatePolicy(policy, { name: newName }, 2), policy.revision))
      const landed = await Promise.all(['a', 'b', 'c', 'd'].map(change))
      assert.deepEqual(landed.filter(Boolean), [true])
      assert.equal((await scene.work((store) => store.find('org_1', 'pol_1')))?.revision, 2)
    })

    it('deletes a policy only at the given revision, and then no longer finds, lists or changes it', async () => {
      await using scene = await openScene(open)
      const policy = await scene.put('pol_1')
      await scene.work(async (store) => {
        assert.equal(await store.remove({ ...policy, revision: 2 }, 5), false)
        assert.equal(await store.remove(policy, 5), true)
        assert.equal(await store.remove(policy, 5), false)
        assert.equal(await store.find('org_1', 'pol_1'), undefined)
        assert.deepEqual((await store.list('org_1', newest)).items, [])
        assert.equal(await store.replace({ ...policy, name: 'back' }, 1), false)
      })
    })

    it('lists by page in both orders, without rules', async () => {
      await using scene = await openScene(open)
      const [first, second, third] = [await scene.put('pol_1'), await scene.put('pol_2'), await scene.put('pol_3')]
      await scene.work(async (store) => {
        assert.deepEqual(await store.list('org_1', newest), { items: [third, second].map(summaryOf), hasMore: true })
        const rest = { items: [summaryOf(first)], hasMore: false }
        assert.deepEqual(await store.list('org_1', { ...newest, after: 'pol_2' }), rest)
        const forward = await store.list('org_1', { limit: 5, order: 'asc', after: 'pol_1' })
        assert.deepEqual(
          forward.items.map(({ id }) => id),
          ['pol_2', 'pol_3'],
        )
      })
    })

    it('continues after a cursor that was deleted meanwhile, and rejects one that never existed', async () => {
      await using scene = await openScene(open)
      for (const id of ['pol_1', 'pol_2', 'pol_3']) await scene.put(id)
      await scene.work(async (store) => {
        await store.remove({ organizationId: 'org_1', id: 'pol_2', revision: 1 }, 5)
        const { items } = await store.list('org_1', { ...newest, after: 'pol_2' })
        assert.deepEqual(
          items.map(({ id }) => id),
          ['pol_1'],
        )
      })
      await assert.rejects(
        scene.work((store) => store.list('org_1', { ...newest, after: 'pol_9' })),
        rejectsWith('invalid_cursor'),
      )
      await assert.rejects(
        scene.work((store) => store.list('org_2', { ...newest, after: 'pol_1' })),
        rejectsWith('invalid_cursor'),
      )
    })

    it('keeps names unique, and lets a policy keep a name that it already shares', async () => {
      await using scene = await openScene(open)
      const [twin] = [await scene.put('pol_1'), await scene.put('pol_2')]
      const { create, update } = createPolicyAdministration({
        ids: (prefix) => `${prefix}_new`,
        clock: createHandClock().clock,
        checkExpression: () => undefined,
      })
      const at = { organizationId: 'org_1', id: twin.id, revision: 1 }
      const patch = { description: 'Changed.', name: twin.name.toUpperCase() }
      const { value } = await scene.work((store) => update(store, at, patch))
      assert.deepEqual([value.name, value.description], ['ÜNÏCODE', 'Changed.'])
      for (const taken of ['ünïcode', ' Ünïcode '])
        await assert.rejects(
          scene.work((store) => create(store, 'org_1', { name: taken, rule: 'r' })),
          rejectsWith('duplicate_name'),
        )
      const made = await scene.work((store) => create(store, 'org_2', { name: 'ünïcode', rule: 'r' }))
      assert.equal(made.value.name, 'ünïcode')
    })

    it('lists versions by number, independent of their ids', async () => {
      await using scene = await openScene(open)
      let policy = await scene.put('pol_1')
      for (const versionId of ['polv_c', 'polv_a', 'polv_b']) {
        policy = await scene.publish(await scene.change(policy, { rule: `rule ${versionId}` }), versionId)
      }
      await scene.work(async (store) => {
        const numbers = async (page: Parameters<PolicyStore['listVersions']>[1]) =>
          (await store.listVersions(policy, page)).items.map(({ version }) => version)
        assert.deepEqual(await numbers(newest), [3, 2])
        assert.deepEqual(await numbers({ ...newest, after: 'polv_a' }), [1])
        assert.deepEqual(await numbers({ limit: 9, order: 'asc', after: 'polv_c' }), [2, 3])
        assert.equal((await store.findVersion(policy, 2))?.id, 'polv_a')
        assert.equal(await store.findVersion(policy, 4), undefined)
      })
    })

    it('returns the ids of projects that are archived', async () => {
      await using scene = await openScene(open)
      const archived = (ids: string[]) => scene.work((store) => store.archivedProjects('org_1', ids))
      assert.deepEqual(await archived(['proj_a', 'proj_b', 'proj_x']), [])
      await scene.archive('proj_a')
      assert.deepEqual(await archived(['proj_x', 'proj_a', 'proj_b']), ['proj_a'])
    })

    it('returns the ids of projects that the organization does not have', async () => {
      await using scene = await openScene(open)
      const requestedIds = ['proj_a', 'proj_x', 'proj_b', ...Array.from({ length: 997 }, (_, at) => `proj_${at}`)]
      const unknown = await scene.work((store) => store.unknownProjects('org_1', requestedIds))
      assert.deepEqual(unknown.slice(0, 2), ['proj_x', 'proj_b'])
      assert.equal(unknown.length, 999)
    })
  })
}

/** Two organizations: the first has `proj_a`, the second `proj_b`. */
async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const work = <T>(use: (store: PolicyStore) => Promise<T>): Promise<T> =>
    database.transaction((tx) => use(policyStore(tx)))
  await database.transaction(async (tx) => {
    const directory = directoryStore(tx)
    for (const [id, projectId] of [['org_1', 'proj_a'] as const, ['org_2', 'proj_b'] as const]) {
      const organization = { id, name: id, plan: 'free', lifetimePaidMicroUsd: 0, metered: true, createdAtMs: 1 }
      await directory.insertOrganization(organization)
      await directory.insertProject({
        id: projectId,
        organizationId: id,
        name: 'P',
        createdAtMs: 1,
        archivedAtMs: null,
      })
    }
  })

  async function change(policy: Policy, patch: Parameters<typeof updatePolicy>[1]): Promise<Policy> {
    const next = updatePolicy(policy, patch, 2)
    assert.equal(await work((store) => store.replace(next, policy.revision)), true)
    return next
  }

  return {
    work,
    change,
    archive: (id: string) =>
      database.write([{ sql: 'update project set archived_at = 9 where id = $1', params: [id] }]),
    async put(id: string, content: Parameters<typeof updatePolicy>[1] = {}): Promise<Policy> {
      const birth = { id, organizationId: 'org_1', nowMs: 1 }
      const policy = createPolicy({ name: 'Ünïcode', rule: 'Say "no"\n😀', ...content }, birth)
      await work((store) => store.insert(policy))
      return policy
    },
    async publish(policy: Policy, versionId = 'polv_1'): Promise<Policy> {
      const next = publishPolicy(policy, { versionId, nowMs: 3, publishedBy: 'adk_1', reason: 'Approved' })
      await work(async (store) => {
        assert.equal(await store.replace(next, policy.revision), true)
        if (next.published) await store.insertVersion(next, next.published)
      })
      return next
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
