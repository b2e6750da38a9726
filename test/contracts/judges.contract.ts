import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database, Transaction } from '../../src/adapters/stores/sql/database.ts'
import { judgeAlarmStore, organizationsWithAlarms } from '../../src/adapters/stores/sql/judges/alarms.ts'
import { budgetSlices } from '../../src/adapters/stores/sql/judges/budget.ts'
import {
  calibrationQueue,
  calibrationStore,
  removeCalibrations,
} from '../../src/adapters/stores/sql/judges/calibrations.ts'
import {
  differenceReviews,
  judgeCountStore,
  judgeCountWriter,
  removeJudgeCounts,
  unreviewedDifferences,
} from '../../src/adapters/stores/sql/judges/counts.ts'
import {
  activeJudgeVersions,
  judgeStore,
  organizationsOfFileJudge,
} from '../../src/adapters/stores/sql/judges/judges.ts'
import { createStores } from '../../src/app/stores.ts'
import type { Clock } from '../../src/base/clock.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { nothingLeftOut, type JudgeCalibration } from '../../src/domain/judges/calibration.ts'
import { noCounts, type JudgeDay } from '../../src/domain/judges/counts.ts'
import type { JudgeHead, JudgeVersion } from '../../src/domain/judges/judge.ts'
import { createCalibrationRunner, type AskCalibrated } from '../../src/domain/judges/runner.ts'
import { createJudgeWatch } from '../../src/domain/judges/watch.ts'
import { createChanges } from '../../src/domain/mutations/changes.ts'
import { createKeyring } from '../../src/domain/server-secret/keyring.ts'
import type { Engine } from '../support/engines.ts'
import { createHandClock } from '../support/hand-clock.ts'

const head: JudgeHead = {
  id: 'jdg_1',
  organizationId: 'org_1',
  name: 'Größe 😀',
  revision: 1,
  createdAtMs: 5,
  updatedAtMs: 6,
}
const version: JudgeVersion = {
  judgeId: 'jdg_1',
  organizationId: 'org_1',
  version: 1,
  model: 'm',
  template: { system: '{{rule}}', user: '{{text}}' },
  digest: 'abc',
  parameters: { temperature: 0.5, maxOutputTokens: 200 },
  timeoutMs: 900,
  fail: 'open',
  maxUsdPerDay: 1.25,
  state: 'draft',
  shareBasisPoints: 0,
  calibrationId: null,
  fixed: { items: [], kappa: null },
  activatedAtMs: null,
  createdBy: 'adk_1',
  createdAtMs: 5,
}
const of = { organizationId: 'org_1', judgeId: 'jdg_1', version: 1 }
const items = Array.from({ length: 10 }, (_, at) => ({
  policyId: 'pol_1',
  caseId: `case_${at}`,
  expected: at % 2 === 0 ? ('match' as const) : ('no_match' as const),
}))
const calibration: JudgeCalibration = {
  ...of,
  id: 'cal_1',
  subject: 'm@abc',
  kind: 'calibration',
  night: null,
  status: 'running',
  items,
  leftOut: { ...nothingLeftOut, unsure: 2 },
  total: 80,
  done: 0,
  report: null,
  error: null,
  createdBy: 'adk_1',
  createdAtMs: 5,
  updatedAtMs: 5,
}
const page = { limit: 10, order: 'asc' } as const

/** The contract of every store of judges. */
export function judgesContract({ name, skip, open }: Engine): void {
  describe(`judges: ${name}`, { skip }, () => {
    it('keeps versions, of which one is active and one a shadow, for their organization only', async () => {
      await using scene = await openScene(open)
      await scene.use(async (tx) => {
        const judges = judgeStore(tx)
        await judges.insert(head, version)
        await judges.insertVersion({ ...version, version: 2, template: null })
        const found = await judges.find('org_1', 'jdg_1')
        assert.deepEqual([found?.latest.version, found?.activeVersion, found?.latest.template], [2, null, null])
        assert.deepEqual(await judges.findVersion(of), version)
        await judges.changeVersion(of, { state: 'active', activatedAtMs: 9, fixed: { items, kappa: 0.7 } })
        await judges.changeVersion({ ...of, version: 2 }, { state: 'shadow', shareBasisPoints: 500 })
        const { active, shadow } = await judges.inForce('org_1')
        assert.deepEqual([active?.fixed.kappa, shadow?.shareBasisPoints], [0.7, 500])
        assert.deepEqual(await judges.inForce('org_2'), { active: undefined, shadow: undefined })
        assert.equal(await judges.find('org_2', 'jdg_1'), undefined)
        assert.equal(await judges.touch({ ...head, revision: 2, name: 'New' }, 1), true)
        assert.equal(await judges.touch({ ...head, revision: 3 }, 1), false)
        assert.deepEqual(
          (await judges.list('org_1', page)).items.map((each) => each.name),
          ['New'],
        )
      })
      assert.deepEqual(
        (await activeJudgeVersions(scene.database)).map((each) => each.version),
        [1],
      )
      await assert.rejects(scene.use((tx) => judgeStore(tx).changeVersion({ ...of, version: 2 }, { state: 'active' })))
    })

    it('deletes a judge with all that is known of it', async () => {
      await using scene = await openScene(open)
      await scene.use(async (tx) => {
        await judgeStore(tx).insert(head, version)
        await calibrationStore(tx).insert(calibration)
      })
      await judgeCountWriter(scene.database).add([{ ...of, policyId: 'pol_1', day: 3, ...noCounts, asked: 1 }], [])
      await scene.use((tx) => judgeStore(tx).remove('org_1', 'jdg_1'))
      await scene.use(async (tx) => {
        assert.equal(await judgeStore(tx).find('org_1', 'jdg_1'), undefined)
        assert.equal(await calibrationStore(tx).find('org_1', 'jdg_1', 'cal_1'), undefined)
        assert.deepEqual(await judgeCountStore(tx).days(of, 0), [])
      })
    })

    it('gives a calibration to one node at a time, which another continues after a kill, and counts no answer twice', async () => {
      await using scene = await openScene(open)
      await scene.use(async (tx) => {
        await judgeStore(tx).insert(head, version)
        await calibrationStore(tx).insert(calibration)
      })
      const asked: string[] = []
      const ask: AskCalibrated = async (_calibration, question) => {
        asked.push(question.kind)
        // The first node dies in the middle: it never gets an answer again, and its lease ends.
        if (asked.length > 15) await new Promise(() => {})
        return { score: 9_000, failure: null, ms: 5, usdMicros: 7 }
      }
      const nodeOf = (owner: string, answers: AskCalibrated) =>
        createCalibrationRunner({
          queue: calibrationQueue({ database: scene.database, clock: scene.clock, owner, leaseMs: 60_000 }),
          findLabelled: async () => ({ kind: 'labelled', policy: { id: 'pol_1', content: {} as never }, given: {} }),
          ask: answers,
          thresholdsOf: async () => () => 5_000,
          timeoutMsOf: async () => 900,
          clock: scene.clock,
          onError: (error) => assert.fail(String(error)),
        })
      const first = nodeOf('one', ask)
      void first.run()
      const kept = () => scene.use((tx) => calibrationStore(tx).answers('cal_1'))
      while ((await kept()).length < 15) await new Promise((resolve) => setImmediate(resolve))
      const second = nodeOf('two', async () => ({ score: 9_000, failure: null, ms: 5, usdMicros: 7 }))
      await second.run()
      const held = await scene.use((tx) => calibrationStore(tx).find('org_1', 'jdg_1', 'cal_1'))
      assert.equal(held?.status, 'running', 'the lease of the first node is respected')
      scene.advance(61_000)
      await second.run()
      const ended = await scene.use((tx) => calibrationStore(tx).find('org_1', 'jdg_1', 'cal_1'))
      assert.deepEqual([ended?.status, ended?.done], ['completed', 80])
      const answers = await scene.use((tx) => calibrationStore(tx).answers('cal_1'))
      assert.equal(new Set(answers.map(({ item, round }) => `${item} ${round}`)).size, 80)
      assert.equal(answers.length, 80)
      assert.deepEqual([ended?.report?.labels, ended?.report?.base_rate_bp, ended?.report?.kappa], [10, 5_000, 0])
      assert.equal(ended?.report?.usd, (80 * 7) / 1_000_000)
      const judge = await scene.use((tx) => judgeStore(tx).findVersion(of))
      assert.deepEqual([judge?.calibrationId, judge?.state], ['cal_1', 'draft'])
    })

    it('begins one check of a night, and one alarm of an episode, however many nodes notice it', async () => {
      await using scene = await openScene(open)
      await scene.use((tx) => judgeStore(tx).insert(head, version))
      const night = { ...calibration, kind: 'drift' as const, night: 20_000 }
      const alarm = { ...of, kind: 'kappa' as const, text: 'It fell.', sinceMs: 7 }
      const begun = await Promise.all(
        ['a', 'b'].map((node) =>
          scene.use(async (tx) => [
            await calibrationStore(tx).insert({ ...night, id: `cal_${node}` }),
            await judgeAlarmStore(tx).begin({ ...alarm, id: `alm_${node}` }),
          ]),
        ),
      )
      assert.equal(begun.filter(([check]) => check).length, 1)
      assert.equal(begun.filter(([, one]) => one).length, 1)
      await scene.use(async (tx) => {
        const alarms = judgeAlarmStore(tx)
        assert.equal((await alarms.open('org_1')).length, 1)
        assert.deepEqual(await alarms.open('org_2'), [])
        assert.equal(await alarms.end(alarm, 9), true)
        assert.equal(await alarms.end(alarm, 9), false)
        assert.equal(await alarms.begin({ ...alarm, id: 'alm_c' }), true)
        const model = { ...of, upstream: 'u', model: 'one', sinceMs: 1 }
        assert.equal(await alarms.replaceSeen(model), undefined)
        assert.equal(await alarms.replaceSeen(model), 'one')
        assert.equal(await alarms.replaceSeen({ ...model, model: 'two', sinceMs: 2 }), 'one')
        assert.deepEqual(await judgeCountStore(tx).seen(of), [{ ...of, upstream: 'u', model: 'two', sinceMs: 2 }])
      })
    })

    it('adds up what nodes count, and forgets old days and differences', async () => {
      await using scene = await openScene(open)
      const writer = judgeCountWriter(scene.database)
      const day: JudgeDay = { ...of, policyId: 'pol_1', day: 3, ...noCounts, asked: 2, usd: 0.5 }
      const scores = noCounts.scores.map((_, at) => (at === 9 ? 4 : 0))
      const difference = {
        ...of,
        policyId: 'pol_1',
        requestId: 'req_1',
        direction: 'request',
        activeScore: 1,
        shadowScore: 2,
      } as const
      await writer.add([day], [{ ...difference, id: 'dif_1', atMs: 50 }])
      await writer.add([{ ...day, skipped: 1, scores }], [{ ...difference, id: 'dif_2', atMs: 150 }])
      const counts = judgeCountStore({ query: (sql, params) => scene.database.read(sql, params) })
      assert.deepEqual(await counts.days(of, 0), [{ ...day, asked: 4, usd: 1, skipped: 1, scores }])
      assert.deepEqual(await counts.daysOfJudge({ organizationId: 'org_2', judgeId: 'jdg_1' }, 0), [])
      await removeJudgeCounts(scene.database, { day: 4, beforeMs: 100 })
      assert.deepEqual(await counts.days(of, 0), [])
      assert.deepEqual(
        (await counts.differences(of, page)).items.map(({ id }) => id),
        ['dif_2'],
      )
    })

    it('reviews a difference once, and counts those of an organization', async () => {
      await using scene = await openScene(open)
      const scores = { activeScore: 9_000, shadowScore: 100 }
      const difference = { ...of, policyId: 'pol_1', requestId: 'req_1', direction: 'response', ...scores } as const
      const other = { ...difference, id: 'dif_3', organizationId: 'org_2', atMs: 30 }
      const all = [{ ...difference, id: 'dif_1', atMs: 10 }, { ...difference, id: 'dif_2', atMs: 20 }, other]
      await judgeCountWriter(scene.database).add([], all)
      const find = unreviewedDifferences(scene.database)
      assert.deepEqual(await find(0, 10), all)
      assert.deepEqual(await find(15, 1), [all[1]])
      await scene.use(async (tx) => {
        const reviews = differenceReviews(tx)
        const first = { organizationId: 'org_1', id: 'dif_1' }
        assert.equal(await reviews.settle({ ...first, organizationId: 'org_2' }, { appealId: 'apl_1' }), false)
        assert.equal(await reviews.settle(first, { appealId: 'apl_1' }), true)
        assert.equal(await reviews.settle(first, { notReviewed: 'repeated' }), false)
        assert.equal(await reviews.settle({ ...first, id: 'dif_2' }, { notReviewed: 'no_text' }), true)
        assert.deepEqual([await reviews.countReviewed('org_1', 5), await reviews.countReviewed('org_1', 10)], [1, 0])
        assert.equal(await reviews.countReviewed('org_2', 0), 0)
        const differences = await judgeCountStore(tx).differences(of, page)
        assert.deepEqual(
          differences.items.map(({ review }) => review),
          [{ appealId: 'apl_1' }, { notReviewed: 'no_text' }],
        )
      })
      assert.deepEqual(await find(0, 10), [other])
    })

    it('keeps a calibration as long as its version has it', async () => {
      await using scene = await openScene(open)
      await scene.use(async (tx) => {
        await judgeStore(tx).insert(head, { ...version, calibrationId: 'cal_1' })
        await calibrationStore(tx).insert({ ...calibration, status: 'completed' })
        await calibrationStore(tx).insert({ ...calibration, id: 'cal_2', status: 'failed' })
        const before = await calibrationStore(tx).find('org_1', 'jdg_1', 'cal_1')
        assert.deepEqual(before?.leftOut, calibration.leftOut)
        // As before reasons were stored.
        await tx.run('update judge_calibration set left_out_by = null')
        const after = await calibrationStore(tx).find('org_1', 'jdg_1', 'cal_1')
        assert.deepEqual(after?.leftOut, { ...nothingLeftOut, not_by_person: 2 })
      })
      await removeCalibrations(scene.database, 1_000)
      const left = await scene.use((tx) => calibrationStore(tx).list('org_1', 'jdg_1', page))
      assert.deepEqual(
        left.items.map(({ id }) => id),
        ['cal_1'],
      )
    })

    it('keeps the last calibration of the judge of the configuration, of each organization', async () => {
      await using scene = await openScene(open)
      const ofFile = { ...calibration, judgeId: 'file', version: 0, status: 'completed' as const }
      await scene.use(async (tx) => {
        const calibrations = calibrationStore(tx)
        for (const [at, organizationId] of ['org_1', 'org_1', 'org_2'].entries())
          assert.equal(await calibrations.insert({ ...ofFile, id: `cal_${at}`, organizationId }), true)
        for (const organizationId of ['org_1', 'org_2'])
          assert.equal(
            await calibrations.insert({
              ...ofFile,
              id: `cal_${organizationId}`,
              organizationId,
              kind: 'drift',
              night: 3,
            }),
            true,
          )
      })
      await removeCalibrations(scene.database, 1_000)
      const rows = await scene.database.read<{ id: string }>('select id from judge_calibration order by id')
      assert.deepEqual(
        rows.map(({ id }) => id),
        ['cal_1', 'cal_2'],
      )
    })

    it('finds the organizations that use the judge of the configuration, and those with an alarm', async () => {
      await using scene = await openScene(open)
      const ofFile = { ...calibration, judgeId: 'file', version: 0, status: 'completed' as const }
      const day: JudgeDay = { ...of, judgeId: 'file', version: 0, policyId: 'pol_1', day: 3, ...noCounts, asked: 1 }
      assert.deepEqual(await organizationsOfFileJudge(scene.database, 3), [])
      await judgeCountWriter(scene.database).add([{ ...day, organizationId: 'org_2' }], [])
      await scene.use((tx) => calibrationStore(tx).insert(ofFile))
      assert.deepEqual(await organizationsOfFileJudge(scene.database, 3), ['org_1', 'org_2'])
      assert.deepEqual(await organizationsOfFileJudge(scene.database, 4), ['org_1'])
      await scene.use((tx) => judgeStore(tx).insert(head, { ...version, state: 'active' }))
      assert.deepEqual(await organizationsOfFileJudge(scene.database, 3), ['org_2'])
      const alarm = { ...of, id: 'alm_1', kind: 'kappa' as const, text: 'It fell.', sinceMs: 7 }
      await scene.use((tx) => judgeAlarmStore(tx).begin(alarm))
      assert.deepEqual(await organizationsWithAlarms(scene.database), ['org_1'])
      await scene.use((tx) => judgeAlarmStore(tx).end(alarm, 9))
      assert.deepEqual(await organizationsWithAlarms(scene.database), [])
    })

    it('ends the alarms of judges that are no longer in use, each with one event', async () => {
      await using scene = await openScene(open)
      const stores = openStores(scene.database, scene.clock)
      const own = stores.of((tx) => ({
        judges: judgeStore(tx),
        judgeAlarms: judgeAlarmStore(tx),
        calibrations: calibrationStore(tx),
        counts: judgeCountStore(tx),
      }))
      const watch = createJudgeWatch({
        ...own,
        findWatched: async () => [],
        findAlarmed: () => organizationsWithAlarms(scene.database),
        hasFileJudge: false,
        clock: scene.clock,
        ids: createIds(scene.clock, systemRandom),
        onAlarm: () => assert.fail('no alarm begins'),
      })
      const alarm = { ...of, kind: 'kappa' as const, text: 'It fell.', sinceMs: 7 }
      await scene.use(async (tx) => {
        await judgeStore(tx).insert(head, { ...version, state: 'active' })
        await judgeAlarmStore(tx).begin({ ...alarm, id: 'alm_active' })
        await judgeAlarmStore(tx).begin({ ...alarm, id: 'alm_before', version: 2 })
        await judgeAlarmStore(tx).begin({ ...alarm, id: 'alm_file', judgeId: 'file', version: 0 })
      })
      await Promise.all([watch.run(), watch.run()])
      const left = await scene.use((tx) => judgeAlarmStore(tx).open('org_1'))
      assert.deepEqual(
        left.map(({ id }) => id),
        ['alm_active'],
      )
      const page100 = { limit: 100, order: 'asc' } as const
      const { items: events } = await stores.auditLog.list('org_1', { code: 'admin.judge_alarm.resolved' }, page100)
      assert.equal(events.length, 2)
      // The version was in force when the watch read it, and is retired before the alarm begins.
      const late = createJudgeWatch({
        ...own,
        findWatched: async () => [{ ...of, version: 2, subject: 'm', fixed: { items: [], kappa: null }, sinceMs: 0 }],
        findAlarmed: async () => [],
        hasFileJudge: false,
        clock: scene.clock,
        ids: createIds(scene.clock, systemRandom),
        onAlarm: () => assert.fail('no alarm begins'),
      })
      const failing = { ...of, version: 2, policyId: 'pol_1', day: 0, ...noCounts, asked: 100, failed: 50 }
      await judgeCountWriter(scene.database).add([failing], [])
      await late.run()
      // Of a version that is not in use, a model is remembered, and raises no alarm.
      const seen = { ...of, version: 2, upstream: 'u', sinceMs: 1 }
      for (const model of ['one', 'two']) await watch.onSeen({ ...seen, model })
      assert.deepEqual(await own.reads.counts.seen(seen), [{ ...seen, model: 'two' }])
    })

    it('never gives more of a budget than there is, to nodes that ask at the same time', async () => {
      await using scene = await openScene(open)
      const slices = budgetSlices(scene.database)
      const slice = { name: 'jdg_1', day: 5, micros: 300, maxMicros: 1_000 }
      const taken = await Promise.all(Array.from({ length: 8 }, () => slices.take(slice)))
      assert.equal(taken.filter(Boolean).length, 3)
      assert.equal(await slices.take({ ...slice, micros: 2_000 }), false)
      await slices.giveBack(slice)
      assert.equal(await slices.take(slice), true)
      assert.equal(await slices.take({ ...slice, day: 6 }), true)
    })
  })
}

function openStores(database: Database, clock: Clock) {
  const keyring = createKeyring({ current: 'a secret for tests' })
  const ids = createIds(clock, systemRandom)
  return createStores({
    database,
    clock,
    random: systemRandom,
    ids,
    changes: createChanges(clock),
    keyring,
    dataDir: '',
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const { clock, advance } = createHandClock()
  const insert = 'insert into organization (id, name, changed_at, created_at) values ($1, $1, 1, 1)'
  await database.write(['org_1', 'org_2'].map((id) => ({ sql: insert, params: [id] })))
  return {
    database,
    clock,
    advance,
    use: <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => database.transaction(work),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
