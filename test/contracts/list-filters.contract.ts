import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { directoryStore } from '../../src/adapters/stores/sql/identity/directory.ts'
import { policyStore } from '../../src/adapters/stores/sql/policies/policies.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import type { DirectoryStore, KeyPage, Paged } from '../../src/domain/identity/store.ts'
import { createPolicy, publishPolicy, updatePolicy, type NewPolicy } from '../../src/domain/policy/lifecycle.ts'
import type { PolicyPage } from '../../src/domain/policy/store.ts'
import type { Engine } from '../support/engines.ts'

const all = { limit: 100, order: 'asc' } as const
const nowMs = 1_000

/** Filters of lists, on every engine. */
export function listFiltersContract({ name, skip, open }: Engine): void {
  describe(`filters of lists: ${name}`, { skip }, () => {
    it('projects are found by part of the name in any case, and by status', async () => {
      await using scene = await openScene(open)
      await scene.projects({ proj_1: 'Größe', proj_2: 'GRÖSSE zwei', proj_3: '100% sure', proj_4: 'Other' })
      await scene.use((store) => store.archiveProject('org_1', 'proj_2', 5))
      const list = (page: object) => scene.ids((store) => store.listProjects('org_1', { ...all, ...page }))
      assert.deepEqual(await list({ search: 'größe' }), ['proj_1', 'proj_2'])
      assert.deepEqual(await list({ search: '%' }), ['proj_3'])
      assert.deepEqual(await list({ search: '_' }), [])
      assert.deepEqual(await list({ status: 'archived' }), ['proj_2'])
      assert.deepEqual(await list({ status: 'active', search: 'öss' }), ['proj_1'])
      assert.deepEqual(await list({}), ['proj_1', 'proj_2', 'proj_3', 'proj_4'])
    })

    it('pages of a search skip nothing and end, however many rows do not match', async () => {
      await using scene = await openScene(open)
      const names = Array.from({ length: 1_203 }, (_, at) => {
        const id = `proj_${String(at).padStart(4, '0')}`
        return [id, at % 200 === 0 ? 'Needle' : 'Hay'] as const
      })
      await scene.projects(Object.fromEntries(names))
      const expected = names.filter(([, text]) => text === 'Needle').map(([id]) => id)
      for (const order of ['asc', 'desc'] as const) {
        const seen: string[] = []
        for (let after: string | undefined; ; after = seen.at(-1)) {
          const page = { limit: 2, order, search: 'NEEDLE', ...(after !== undefined && { after }) }
          const { items, hasMore } = await scene.use((store) => store.listProjects('org_1', page))
          seen.push(...items.map(({ id }) => id))
          assert.equal(hasMore, seen.length < expected.length)
          if (!hasMore) break
        }
        assert.deepEqual(seen, order === 'asc' ? expected : expected.toReversed())
      }
    })

    it('keys are found by name and status; a cursor stays valid after its key was revoked', async () => {
      await using scene = await openScene(open)
      await scene.projects({ proj_1: 'P' })
      await scene.use(async (store) => {
        for (const [id, keyName, expiresAtMs] of [
          ['1', 'CI', null],
          ['2', 'ci old', nowMs - 1],
          ['3', 'Chat', nowMs + 1],
          ['4', 'CI gone', nowMs + 1],
        ] as const) {
          const digest = { digest: `digest ${id}`, secretId: 's' }
          await store.insertApiKey(
            { ...keyOf(`key_${id}`, keyName, expiresAtMs), projectId: 'proj_1', models: null },
            digest,
          )
          await store.insertAdminKey(keyOf(`adk_${id}`, keyName, expiresAtMs), digest)
        }
        await store.revokeApiKey('org_1', 'key_4', 7)
        await store.revokeAdminKey('org_1', 'adk_4', 7)
      })
      const numbers = async (page: Partial<KeyPage>): Promise<string[]> => {
        const whole = { ...all, withoutRevoked: true, ...page }
        const [keys, adminKeys] = await scene.use(async (store) => [
          await store.listApiKeys('org_1', 'proj_1', whole),
          await store.listAdminKeys('org_1', whole),
        ])
        const numberOf = ({ id }: { id: string }) => id.slice(4)
        assert.deepEqual(keys?.items.map(numberOf), adminKeys?.items.map(numberOf))
        return keys?.items.map(numberOf) ?? []
      }
      assert.deepEqual(await numbers({}), ['1', '2', '3'])
      assert.deepEqual(await numbers({ search: 'ci' }), ['1', '2'])
      assert.deepEqual(await numbers({ status: { is: 'active', nowMs } }), ['1', '3'])
      assert.deepEqual(await numbers({ status: { is: 'expired', nowMs } }), ['2'])
      assert.deepEqual(await numbers({ status: { is: 'revoked', nowMs } }), ['4'])
      const soon = { expiresBeforeMs: nowMs + 2 }
      assert.deepEqual(await numbers({ status: { is: 'active', nowMs }, ...soon }), ['3'])
      assert.deepEqual(await numbers({ status: { is: 'active', nowMs }, expiresBeforeMs: nowMs + 1 }), [])
      assert.deepEqual(await numbers(soon), ['2', '3'])
      const after = { after: 'key_4', order: 'desc', status: { is: 'active', nowMs } } as const
      const rest = await scene.ids((store) => store.listApiKeys('org_1', 'proj_1', { ...all, ...after }))
      assert.deepEqual(rest, ['key_3', 'key_1'])
    })

    it('policies are found by state, by content in force and by the project that they apply to', async () => {
      await using scene = await openScene(open)
      await scene.policy('pol_1', { name: 'Draft', rule: 'r', direction: 'request' })
      await scene.policy('pol_2', { name: 'Ärger', rule: 'r', mode: 'enforcing' }, 'publish')
      await scene.policy('pol_3', { name: 'One', rule: 'r', scope: 'projects', projectIds: ['proj_1'] }, 'publish')
      await scene.policy('pol_4', { name: 'Two', rule: 'r', scope: 'projects', projectIds: ['proj_12'] }, 'publish', {
        projectIds: ['proj_1'],
        mode: 'enforcing',
      })
      await scene.policy('pol_5', { name: 'Loose', rule: 'r', scope: 'unattached', projectIds: ['proj_1'] })
      const list = (page: Partial<PolicyPage>) => scene.policyIds({ ...all, ...page })
      assert.deepEqual(await list({ state: 'draft' }), ['pol_1', 'pol_5'])
      assert.deepEqual(await list({ state: 'paused' }), [])
      assert.deepEqual(await list({ search: 'äR' }), ['pol_2'])
      assert.deepEqual(await list({ content: { mode: 'enforcing' } }), ['pol_2'])
      assert.deepEqual(await list({ content: { direction: 'request' } }), ['pol_1'])
      assert.deepEqual(await list({ content: { scope: 'projects', mode: 'monitoring' } }), ['pol_3', 'pol_4'])
      assert.deepEqual(await list({ projectId: 'proj_1' }), ['pol_1', 'pol_2', 'pol_3'])
      assert.deepEqual(await list({ projectId: 'proj_1', content: { scope: 'projects' } }), ['pol_3'])
      assert.deepEqual(await list({ projectId: 'proj_1"' }), ['pol_1', 'pol_2'])
      assert.deepEqual(await list({ hasUnpublishedChanges: true }), ['pol_1', 'pol_4', 'pol_5'])
      assert.deepEqual(await list({ hasUnpublishedChanges: false, state: 'monitoring' }), ['pol_3'])
      assert.deepEqual(await list({ state: 'draft', after: 'pol_2', order: 'desc' }), ['pol_1'])
    })
  })
}

const keyOf = (id: string, keyName: string, expiresAtMs: number | null) => ({
  id,
  organizationId: 'org_1',
  name: keyName,
  redactedValue: 'ak_…',
  permissions: [],
  allowedIps: null,
  createdAtMs: 1,
  expiresAtMs,
  revokedAtMs: null,
  lastUsedAtMs: null,
  previousExpiresAtMs: null,
})

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const use = <T>(work: (store: DirectoryStore) => Promise<T>): Promise<T> =>
    database.transaction((tx) => work(directoryStore(tx)))
  const organization = { id: 'org_1', name: 'O', plan: 'free', lifetimePaidMicroUsd: 0, metered: true, createdAtMs: 1 }
  await use((store) => store.insertOrganization(organization))
  const ids = async (list: (store: DirectoryStore) => Promise<Paged<{ readonly id: string }>>): Promise<string[]> =>
    (await use(list)).items.map(({ id }) => id)
  return {
    use,
    ids,
    projects: (names: Readonly<Record<string, string>>) =>
      use(async (store) => {
        for (const [id, projectName] of Object.entries(names))
          await store.insertProject({
            id,
            organizationId: 'org_1',
            name: projectName,
            createdAtMs: 1,
            archivedAtMs: null,
          })
      }),
    policy: (id: string, input: NewPolicy, ...[publish, patch]: readonly ['publish'?, Partial<NewPolicy>?]) =>
      database.transaction(async (tx) => {
        const store = policyStore(tx)
        let policy = createPolicy(input, { id, organizationId: 'org_1', nowMs: 1 })
        await store.insert(policy)
        if (publish) {
          const next = publishPolicy(policy, { publishedBy: null, reason: null, versionId: `polv_${id}`, nowMs: 2 })
          await store.replace(next, policy.revision)
          if (next.published) await store.insertVersion(next, next.published)
          policy = next
        }
        if (patch) await store.replace(updatePolicy(policy, patch, 3), policy.revision)
      }),
    policyIds: (page: PolicyPage) =>
      database.transaction(async (tx) => (await policyStore(tx).list('org_1', page)).items.map(({ id }) => id)),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
