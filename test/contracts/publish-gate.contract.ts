import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { gateStore, removeGateRuns } from '../../src/adapters/stores/sql/policies/gate.ts'
import type { GateRun, GateStore, StoredGate } from '../../src/domain/gate/gate-run.ts'
import type { Engine } from '../support/engines.ts'

const first: GateRun = {
  id: 'gate_1',
  organizationId: 'org_1',
  policyId: 'pol_1',
  revision: 3,
  digest: 'abc',
  cases: { must: 2, failed: 1, failedIds: ['case_1'], shouldFailed: 0 },
  backtestId: 'bt_1',
  replayProblem: null,
  author: 'adk_1',
  approvals: [],
  createdBy: 'adk_2',
  createdAtMs: 100,
}
const second: GateRun = {
  ...first,
  id: 'gate_2',
  backtestId: null,
  replayProblem: 'Größe 😀',
  author: null,
  createdAtMs: 200,
}
const ofOrganization = { organizationId: 'org_1', policyId: null }
const ofPolicy = { organizationId: 'org_1', policyId: 'pol_1' }
const strict: StoredGate = {
  settings: { replay: { level: 'require', newly_blocked_bp: null } },
  revision: 1,
  updatedAtMs: 5,
}
const page = { limit: 10, order: 'asc' } as const

/** The contract of every store of the publish gate. */
export function publishGateContract({ name, skip, open }: Engine): void {
  describe(`the publish gate: ${name}`, { skip }, () => {
    it('keeps the settings of the organization and of each policy apart, and changes them at their revision only', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        assert.equal(await store.findSettings(ofOrganization), undefined)
        assert.equal(await store.saveSettings(ofOrganization, strict), true)
        assert.equal(await store.saveSettings(ofOrganization, strict), false)
        assert.deepEqual(await store.findSettings(ofOrganization), strict)
        assert.equal(await store.findSettings(ofPolicy), undefined)
        assert.equal(await store.findSettings({ organizationId: 'org_2', policyId: null }), undefined)
        const later = { settings: {}, revision: 2, updatedAtMs: 6 }
        assert.equal(await store.saveSettings(ofOrganization, { ...later, revision: 3 }), false)
        assert.equal(await store.saveSettings(ofOrganization, later), true)
        assert.deepEqual(await store.findSettings(ofOrganization), later)
      })
    })

    it('keeps runs with their approvals, one of each person, for their policy and organization only', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        for (const run of [first, second]) await store.insertRun(run)
        assert.equal(await store.approve(first, { by: 'adk_3', atMs: 110 }), true)
        assert.equal(await store.approve(first, { by: 'adk_3', atMs: 120 }), false)
        assert.equal(await store.approve(first, { by: 'adk_4', atMs: 115 }), true)
        const approved = {
          ...first,
          approvals: [
            { by: 'adk_3', atMs: 110 },
            { by: 'adk_4', atMs: 115 },
          ],
        }
        assert.deepEqual(await store.findRun('org_1', 'pol_1', 'gate_1'), approved)
        assert.deepEqual(await store.latestRun('org_1', 'pol_1'), second)
        assert.deepEqual((await store.listRuns('org_1', 'pol_1', page)).items, [approved, second])
        for (const [organizationId, policyId] of [
          ['org_2', 'pol_1'],
          ['org_1', 'pol_2'],
        ] as const) {
          assert.equal(await store.findRun(organizationId, policyId, 'gate_1'), undefined)
          assert.equal(await store.latestRun(organizationId, policyId), undefined)
          assert.deepEqual((await store.listRuns(organizationId, policyId, page)).items, [])
        }
      })
    })

    it('forgets runs from before a time, with their approvals', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        for (const run of [first, second]) await store.insertRun(run)
        await store.approve(first, { by: 'adk_3', atMs: 110 })
      })
      await removeGateRuns(scene.database, 150)
      await scene.use(async (store) => assert.deepEqual((await store.listRuns('org_1', 'pol_1', page)).items, [second]))
    })
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const insert = 'insert into organization (id, name, changed_at, created_at) values ($1, $1, 1, 1)'
  await database.write(['org_1', 'org_2'].map((id) => ({ sql: insert, params: [id] })))
  return {
    database,
    use: <T>(work: (store: GateStore) => Promise<T>): Promise<T> => database.transaction((tx) => work(gateStore(tx))),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
