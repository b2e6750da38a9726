import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Organization } from '../identity/principal.ts'
import type { DirectoryStore } from '../identity/store.ts'
import type { LimitOverride } from './overrides.ts'
import { setLimitOverride, updateOrganization } from './set-limits.ts'

const organizationId = 'org_1'

function openStores() {
  const set: LimitOverride[] = []
  let organization = { id: organizationId, name: 'One', plan: 'free', metered: true } as Organization
  const directory = {
    findApiKey: async (_organizationId: string, id: string) => (id === 'key_1' ? {} : undefined),
    findProject: async (_organizationId: string, id: string) => (id === 'proj_1' ? {} : undefined),
    findOrganization: async () => organization,
    async updateOrganization(_id: string, fields: Partial<Organization>) {
      organization = { ...organization, ...fields }
      return true
    },
  } as unknown as DirectoryStore
  const overrides = {
    list: async () => set,
    set: async (_id: string, override: LimitOverride) => void set.push(override),
  }
  return { directory, overrides, set }
}

describe('a limit override', () => {
  it('is set for the organization, a project or a key, with its audit record', async () => {
    const stores = openStores()
    for (const subject of [{}, { projectId: 'proj_1' }, { keyId: 'key_1' }]) {
      const { value, record } = await setLimitOverride(stores, { organizationId, ...subject, limits: { rpm: 7 } })
      assert.deepEqual(record, {
        kind: 'limits.updated',
        resourceId: value.subjectId,
        details: { scope: value.scope, limits: { rpm: 7 } },
      })
    }
    assert.deepEqual(
      stores.set.map(({ scope, subjectId }) => [scope, subjectId]),
      [
        ['organization', organizationId],
        ['project', 'proj_1'],
        ['key', 'key_1'],
      ],
    )
  })

  it('is rejected for a subject that does not exist, and for a number that is no limit', async () => {
    const stores = openStores()
    const set = (input: object) => setLimitOverride(stores, { organizationId, limits: {}, ...input })
    await assert.rejects(set({ projectId: 'proj_2' }), { details: { param: 'project_id' } })
    await assert.rejects(set({ keyId: 'key_2' }), { details: { param: 'api_key_id' } })
    await assert.rejects(set({ projectId: 'proj_1', keyId: 'key_1' }), { details: { param: 'api_key_id' } })
    for (const rpm of [-1, 1.5, NaN]) await assert.rejects(set({ limits: { rpm } }), { code: 'invalid_parameter' })
    assert.deepEqual(stores.set, [])
  })
})

describe('the name, the plan and the metering of an organization', () => {
  it('are changed one by one, and the audit record names only what changed', async () => {
    const { directory } = openStores()
    const planned = await updateOrganization(directory, organizationId, { plan: 'growth' })
    assert.deepEqual(
      [planned.value.plan, planned.record?.details],
      ['growth', { plan: 'growth', before: { plan: 'free' } }],
    )
    const metered = await updateOrganization(directory, organizationId, { metered: false })
    assert.deepEqual([metered.value.plan, metered.value.metered], ['growth', false])
    assert.deepEqual(metered.record?.details, { metered: false, before: { metered: true } })
    const named = await updateOrganization(directory, organizationId, { name: 'Two', plan: 'growth', metered: false })
    assert.deepEqual([named.value.name, named.record?.details], ['Two', { name: 'Two', before: { name: 'One' } }])
    assert.equal((await updateOrganization(directory, organizationId, { name: 'Two' })).record, undefined)
  })

  it('does not accept an unknown plan', async () => {
    const { directory } = openStores()
    await assert.rejects(
      updateOrganization(directory, organizationId, { plan: 'gold' }),
      /plan: there is no plan gold; there are: /,
    )
  })
})
