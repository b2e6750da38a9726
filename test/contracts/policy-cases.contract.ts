import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auditTexts } from '../../src/adapters/stores/sql/audit/texts.ts'
import { caseStore, gatewayCaseStore } from '../../src/adapters/stores/sql/policies/cases.ts'
import { policyStore } from '../../src/adapters/stores/sql/policies/policies.ts'
import type { Database, Transaction } from '../../src/adapters/stores/sql/database.ts'
import { createEncryption } from '../../src/base/encryption.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { CaseStore, GatewayCase, PolicyCase } from '../../src/domain/cases/case.ts'
import { createPolicy } from '../../src/domain/policy/lifecycle.ts'
import type { Engine } from '../support/engines.ts'

const encryption = createEncryption(new Uint8Array(32), systemRandom)
const owner = { organizationId: 'org_1', policyId: 'pol_1' }
const written: PolicyCase = {
  id: 'case_1',
  ...owner,
  says: 'Größe 😀',
  given: { text: 'What is Project Falcon?', direction: 'request' },
  expected: 'match',
  weight: 'must',
  origin: 'written',
  eventId: null,
  requestId: null,
  tags: ['names'],
  labelledBy: 'adk_1',
  labelledAtMs: 1,
  revision: 1,
  createdAtMs: 1,
  updatedAtMs: 1,
}
const ofRequest: PolicyCase = {
  ...written,
  id: 'case_2',
  expected: { atLeast: 2_000, atMost: 5_000 },
  weight: 'should',
  origin: 'replay',
  eventId: 'evt_1',
  requestId: 'req_1',
}
const ofGateway = { organizationId: 'org_1', policyId: null }
const gatewayCase: GatewayCase = { ...written, ...ofGateway, id: 'case_3', expected: 'redact' }
const page = { limit: 10, order: 'asc' } as const

/** The contract of every store of cases. */
export function policyCaseContract({ name, skip, open }: Engine): void {
  describe(`cases of a policy: ${name}`, { skip }, () => {
    it('are read as they were written, and only with their policy and organization', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        for (const each of [written, ofRequest]) await store.insert(each)
        assert.deepEqual(await store.find(owner, 'case_1'), written)
        assert.deepEqual(await store.all(owner), [written, ofRequest])
        assert.deepEqual((await store.list(owner, { ...page, after: 'case_1' })).items, [ofRequest])
        for (const other of [
          { ...owner, policyId: 'pol_2' },
          { ...owner, organizationId: 'org_2' },
        ]) {
          assert.deepEqual([await store.find(other, 'case_1'), await store.all(other)], [undefined, []])
          assert.equal(await store.count(other), 0)
          await store.remove(other, 'case_1')
        }
        assert.equal(await store.count(owner), 2)
      })
    })

    it('are changed at their revision only', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        await store.insert(written)
        const changed: PolicyCase = {
          ...written,
          says: 'Other',
          given: { text: 'x' },
          expected: 'no_match',
          revision: 2,
        }
        assert.equal(await store.replace({ ...changed, revision: 3 }), false)
        assert.equal(await store.replace(changed), true)
        assert.equal(await store.replace(changed), false)
        assert.deepEqual(await store.find(owner, 'case_1'), changed)
      })
    })

    it('are stored without a readable text, and cannot be read in place of another case', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store, tx) => {
        await store.insert(written)
        const [row] = await tx.query<{ sealed: Uint8Array }>('select sealed from policy_case')
        assert.equal(Buffer.from(row?.sealed ?? []).includes('Falcon'), false)
        await tx.run("update policy_case set id = 'case_9'")
        await assert.rejects(store.find(owner, 'case_9'))
      })
    })

    it('of the gateway configuration are apart from those of policies', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store, tx) => {
        const gateway = gatewayCaseStore(tx, encryption)
        await store.insert(written)
        await gateway.insert(gatewayCase)
        assert.deepEqual(await gateway.all(ofGateway), [gatewayCase])
        assert.deepEqual((await gateway.list(ofGateway, page)).items, [gatewayCase])
        assert.deepEqual([await gateway.count(ofGateway), await store.count(owner)], [1, 1])
        assert.deepEqual(await store.all(owner), [written])
        assert.deepEqual(
          [await gateway.find(ofGateway, 'case_1'), await store.find(owner, 'case_3')],
          [undefined, undefined],
        )
        const changed: GatewayCase = { ...gatewayCase, expected: 'refuse', revision: 2 }
        assert.equal(await gateway.replace(changed), true)
        assert.equal(await gateway.replace(changed), false)
        assert.deepEqual(await gateway.find(ofGateway, 'case_3'), changed)
        const foreign = { ...ofGateway, organizationId: 'org_2' }
        assert.deepEqual([await gateway.all(foreign), await gateway.count(foreign)], [[], 0])
        await gateway.remove(foreign, 'case_3')
        await gateway.remove(ofGateway, 'case_1')
        await store.remove(owner, 'case_3')
        assert.deepEqual([await gateway.count(ofGateway), await store.count(owner)], [1, 1])
        await gateway.remove(ofGateway, 'case_3')
        assert.equal(await gateway.count(ofGateway), 0)
      })
    })

    it('of the gateway configuration are deleted with the texts of their request, and not with a policy', async () => {
      await using scene = await openScene(open)
      await scene.use(async (_store, tx) => {
        const gateway = gatewayCaseStore(tx, encryption)
        const ofErased: GatewayCase = { ...gatewayCase, id: 'case_4', eventId: 'evt_1', requestId: 'req_1' }
        for (const each of [gatewayCase, ofErased]) await gateway.insert(each)
        assert.equal(await auditTexts(tx).erase('org_1', 'req_1'), 1)
        assert.equal(await policyStore(tx).remove({ organizationId: 'org_1', id: 'pol_1', revision: 1 }, 1), true)
        assert.deepEqual(await gateway.all(ofGateway), [gatewayCase])
      })
    })

    it('are deleted with their policy, and with the texts of their request', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store, tx) => {
        for (const each of [written, ofRequest]) await store.insert(each)
        assert.equal(await auditTexts(tx).erase('org_2', 'req_1'), 0)
        assert.equal(await auditTexts(tx).erase('org_1', 'req_1'), 1)
        assert.deepEqual(await store.all(owner), [written])
        assert.equal(await policyStore(tx).remove({ organizationId: 'org_1', id: 'pol_1', revision: 7 }, 1), false)
        assert.equal(await store.count(owner), 1)
        assert.equal(await policyStore(tx).remove({ organizationId: 'org_1', id: 'pol_1', revision: 1 }, 1), true)
        assert.equal(await store.count(owner), 0)
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
    use: <T>(work: (store: CaseStore, tx: Transaction) => Promise<T>): Promise<T> =>
      database.transaction((tx) => work(caseStore(tx, encryption), tx)),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
