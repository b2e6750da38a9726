import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auditTexts } from '../../src/adapters/stores/sql/audit/texts.ts'
import type { Database, Transaction } from '../../src/adapters/stores/sql/database.ts'
import { appealStore, findDueAppeals } from '../../src/adapters/stores/sql/policies/appeals.ts'
import { policyStore } from '../../src/adapters/stores/sql/policies/policies.ts'
import { createEncryption } from '../../src/base/encryption.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { Appeal, AppealStore } from '../../src/domain/appeals/appeal.ts'
import type { Label, LabelFilter } from '../../src/domain/appeals/label.ts'
import { createPolicy } from '../../src/domain/policy/lifecycle.ts'
import type { Engine } from '../support/engines.ts'

const encryption = createEncryption(new Uint8Array(32), systemRandom)
const appeal: Appeal = {
  id: 'apl_1',
  organizationId: 'org_1',
  eventId: 'evt_1',
  requestId: 'req_1',
  projectId: 'proj_1',
  policyId: 'pol_1',
  policyVersion: 2,
  check: 'policy',
  direction: 'response',
  claim: 'should_be_allowed',
  origin: 'caller',
  openedBy: 'key_1',
  note: 'Größe 😀',
  reason: null,
  state: 'open',
  caseId: null,
  openedAtMs: 10,
  expiresAtMs: 100,
  closedAtMs: null,
  closedBy: null,
}
const bare: Appeal = {
  ...appeal,
  id: 'apl_2',
  eventId: 'evt_2',
  requestId: null,
  projectId: null,
  policyId: null,
  policyVersion: null,
  check: null,
  openedBy: null,
  origin: 'person',
  openedAtMs: 20,
  expiresAtMs: 200,
}
const label: Label = {
  id: 'lbl_1',
  organizationId: 'org_1',
  appealId: 'apl_1',
  eventId: 'evt_1',
  requestId: 'req_1',
  caseId: null,
  policyId: 'pol_1',
  should: 'no_match',
  isBlind: true,
  note: 'A bird.',
  labelledBy: 'adk_1',
  labelledAtMs: 11,
}
const page = { limit: 10, order: 'asc' } as const
const closing = {
  state: 'overturned',
  reason: 'Birds are fine.',
  caseId: 'case_1',
  closedAtMs: 50,
  closedBy: 'adk_1',
} as const

/** The contract of every store of appeals. */
export function appealContract({ name, skip, open }: Engine): void {
  describe(`appeals: ${name}`, { skip }, () => {
    it('are read as they were written, and only in their organization', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        for (const each of [appeal, bare]) assert.equal(await store.insert(each), true)
        assert.deepEqual(
          [await store.find('org_1', 'apl_1'), await store.findByEvent('org_1', 'evt_2')],
          [appeal, bare],
        )
        assert.deepEqual(
          [await store.find('org_2', 'apl_1'), await store.findByEvent('org_2', 'evt_1')],
          [undefined, undefined],
        )
        assert.deepEqual((await store.list('org_1', { nowMs: 30 }, { ...page, after: 'apl_1' })).items, [bare])
        assert.deepEqual((await store.list('org_1', { policyId: 'pol_1', nowMs: 30 }, page)).items, [appeal])
        assert.deepEqual((await store.list('org_2', { nowMs: 30 }, page)).items, [])
        await store.insertLabel(label)
        assert.deepEqual((await store.list('org_1', { isLabelled: true, nowMs: 30 }, page)).items, [appeal])
      })
    })

    it('are one for each decision', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        assert.equal(await store.insert(appeal), true)
        assert.equal(await store.insert({ ...bare, eventId: 'evt_1' }), false)
        assert.equal(await store.insert({ ...bare, organizationId: 'org_2', eventId: 'evt_1' }), true)
      })
    })

    it('of judges are besides the one against the decision, one for each text and policy', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        const ofJudges = { ...appeal, origin: 'judge', openedBy: null, note: null } as const
        assert.equal(await store.insert({ ...ofJudges, id: 'apl_3' }), true)
        assert.equal(await store.insert({ ...ofJudges, id: 'apl_4' }), false)
        assert.equal(await store.insert({ ...ofJudges, id: 'apl_5', direction: 'request' }), true)
        assert.equal(await store.findByEvent('org_1', 'evt_1'), undefined)
        assert.equal(await store.insert(appeal), true)
        assert.deepEqual(await store.findByEvent('org_1', 'evt_1'), appeal)
        await store.close({ ...ofJudges, ...closing, id: 'apl_3' })
        assert.deepEqual(await store.closedSince('org_1', 0), [], 'they say nothing about decisions')
        assert.equal(await store.countOpen('org_1', 50), 2)
      })
    })

    it('count as expired from their end on, and are due then', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        for (const each of [appeal, bare]) await store.insert(each)
        const idsIn = async (state: Appeal['state'], nowMs: number) =>
          (await store.list('org_1', { state, nowMs }, page)).items.map(({ id }) => id)
        assert.deepEqual([await idsIn('open', 99), await idsIn('expired', 99)], [['apl_1', 'apl_2'], []])
        assert.deepEqual([await idsIn('open', 100), await idsIn('expired', 100)], [['apl_2'], ['apl_1']])
        assert.deepEqual([await store.countOpen('org_1', 99), await store.countOpen('org_1', 100)], [2, 1])
      })
      const find = findDueAppeals(scene.database)
      assert.deepEqual([await find(99, 10), await find(100, 10)], [[], [{ id: 'apl_1', organizationId: 'org_1' }]])
      assert.equal((await find(200, 1)).length, 1)
    })

    it('are closed once, and their labels name the case', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        await store.insert(appeal)
        assert.equal(await store.insertLabel(label), true)
        assert.equal(await store.insertLabel({ ...label, id: 'lbl_2', should: 'match' }), false)
        assert.equal(await store.insertLabel({ ...label, id: 'lbl_3', labelledBy: 'adk_2', note: null }), true)
        assert.equal(await store.close({ ...appeal, ...closing, organizationId: 'org_2' }), false)
        assert.equal(await store.close({ ...appeal, ...closing }), true)
        assert.equal(await store.close({ ...appeal, ...closing, state: 'upheld' }), false)
        assert.deepEqual(await store.find('org_1', 'apl_1'), { ...appeal, ...closing })
        const [first, second] = await store.labels('org_1', 'apl_1')
        assert.deepEqual(first, { ...label, caseId: 'case_1' })
        assert.deepEqual([second?.labelledBy, second?.note], ['adk_2', null])
        assert.deepEqual(await store.labels('org_2', 'apl_1'), [])
        const counts = [{ policyId: 'pol_1', overturned: 1, closed: 1 }]
        assert.deepEqual([await store.closedSince('org_1', 49), await store.closedSince('org_1', 50)], [counts, []])
      })
    })

    it('have labels that are listed by filters, in their organization, and not to who must not know them yet', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        for (const each of [appeal, bare]) await store.insert(each)
        const other = { ...label, id: 'lbl_2', appealId: 'apl_2', eventId: 'evt_2', policyId: null, requestId: null }
        await store.insertLabel(label)
        await store.insertLabel({ ...other, should: 'match', labelledBy: 'adk_2', note: null })
        const idsOf = async (filter: Partial<LabelFilter>, organizationId = 'org_1'): Promise<string[]> => {
          const found = await store.listLabels(organizationId, { reader: 'adk_9', nowMs: 1_000, ...filter }, page)
          return found.items.map(({ id }) => id)
        }
        assert.deepEqual(await idsOf({}), ['lbl_1', 'lbl_2'])
        assert.deepEqual(await idsOf({}, 'org_2'), [])
        assert.deepEqual(await idsOf({ policyId: 'pol_1' }), ['lbl_1'])
        assert.deepEqual(await idsOf({ eventId: 'evt_2' }), ['lbl_2'])
        assert.deepEqual(await idsOf({ should: 'match' }), ['lbl_2'])
        assert.deepEqual(await idsOf({ by: 'adk_1' }), ['lbl_1'])
        assert.deepEqual(await idsOf({ nowMs: 150 }), ['lbl_1'], 'the second appeal is open')
        assert.deepEqual(await idsOf({ nowMs: 50, reader: 'adk_2' }), ['lbl_2'])
        const [first] = (await store.listLabels('org_1', { reader: 'x', nowMs: 1_000 }, { ...page, limit: 1 })).items
        assert.deepEqual(first, label)
      })
    })

    it('of a key are counted from a time on', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store) => {
        for (const [at, openedAtMs] of [30, 10, 20].entries())
          await store.insert({ ...appeal, id: `apl_${at}`, eventId: `evt_${at}`, openedAtMs })
        assert.deepEqual(await store.openedSince('org_1', 'key_1', 10), [20, 30])
        assert.deepEqual(await store.openedSince('org_1', 'key_2', 0), [])
      })
    })

    it('lose their notes with the texts of their request, and with their policy', async () => {
      for (const erase of [
        (tx: Transaction) => auditTexts(tx).erase('org_1', 'req_1'),
        (tx: Transaction) => policyStore(tx).remove({ organizationId: 'org_1', id: 'pol_1', revision: 1 }, 1),
      ]) {
        await using scene = await openScene(open)
        await scene.use(async (store, tx) => {
          await store.insert(appeal)
          await store.insertLabel(label)
          await store.close({ ...appeal, ...closing })
          assert.ok(await erase(tx))
          const { note, reason } = (await store.find('org_1', 'apl_1')) ?? appeal
          assert.deepEqual([note, reason], [null, null])
          assert.deepEqual((await store.labels('org_1', 'apl_1'))[0]?.note, null)
          assert.equal(await auditTexts(tx).erase('org_1', 'req_1'), 0)
        })
      }
    })

    it('are stored without a readable note, which cannot be read in place of another', async () => {
      await using scene = await openScene(open)
      await scene.use(async (store, tx) => {
        await store.insert({ ...appeal, note: 'Wilhelmina' })
        const [row] = await tx.query<{ sealed_note: Uint8Array }>('select sealed_note from appeal')
        assert.equal(Buffer.from(row?.sealed_note ?? []).includes('Wilhelmina'), false)
        await tx.run("update appeal set id = 'apl_9'")
        await assert.rejects(store.find('org_1', 'apl_9'))
      })
    })

    it('are opened and closed once by two transactions at the same time', async () => {
      await using scene = await openScene(open)
      const insert = (id: string) =>
        scene.use(async (store) => {
          await store.lock('org_1')
          return store.insert({ ...appeal, id })
        })
      const opened = await Promise.all([insert('apl_1'), insert('apl_2')])
      assert.deepEqual(opened.toSorted(), [false, true])
      const id = opened[0] ? 'apl_1' : 'apl_2'
      const expire = () => scene.use((store) => store.close({ ...appeal, id, state: 'expired', closedAtMs: 100 }))
      assert.deepEqual((await Promise.all([expire(), expire()])).toSorted(), [false, true])
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
    database,
    use: <T>(work: (store: AppealStore, tx: Transaction) => Promise<T>): Promise<T> =>
      database.transaction((tx) => work(appealStore(tx, encryption), tx)),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
