import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import {
  decisionCounts,
  decisionHours,
  decisionSums,
  rolloutArms,
} from '../../src/adapters/stores/sql/policies/decision-counts.ts'
import { reportedSpikes } from '../../src/adapters/stores/sql/policies/reported-spikes.ts'
import type { CallerCount, MinuteCount, ReportedSpikes } from '../../src/domain/evaluation/spikes/decision-counts.ts'
import { policyStore } from '../../src/adapters/stores/sql/policies/policies.ts'
import {
  createPolicy,
  pausePolicy,
  publishPolicy,
  resumePolicy,
  updatePolicy,
} from '../../src/domain/policy/lifecycle.ts'
import type { Policy } from '../../src/domain/policy/policy.ts'
import { foldStoredDeltas } from '../../src/adapters/stores/sql/rollup/fold.ts'
import { systemClock } from '../../src/base/clock.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { setClock } from '../support/audit-log.ts'
import type { Engine } from '../support/engines.ts'

const minuteMs = 60_000
const watched = { organizationId: 'org_1', subject: 'pol_1', version: 2, recordedRequests: 0, recordedDenials: 0 }

const callerCount = (
  keyId: string,
  userDigest: string,
  [activeMinute, deniedMinute, observedMinute = 0, matchedMinute = 0]: readonly [number, number, number?, number?],
): CallerCount => ({
  organizationId: 'org_1',
  subject: 'pol_1',
  version: 2,
  keyId,
  userDigest,
  activeMinute,
  deniedMinute,
  observedMinute,
  matchedMinute,
})

/** The contract of every store of decision counts. */
export function decisionCountContract({ name, skip, open }: Engine): void {
  describe(`decision counts: ${name}`, { skip }, () => {
    it('are summed over nodes that write at the same time', async () => {
      await using scene = await openScene(open)
      const others = Array.from({ length: 5 }, (_, at) => ({ ...watched, subject: `pol_${at}`, version: 1 }))
      const write = (order: 1 | -1) =>
        scene.add(
          [watched, ...others].map((each) => ({ ...each, minute: 100, requests: 2, denials: 1 })).sort(() => order),
        )
      await Promise.all([write(1), write(-1), write(1), write(-1)])
      assert.deepEqual(await scene.sums(100), { window: [8, 4], dayBefore: [0, 0] })
    })

    it('cover a window of fifteen minutes, and the day before it', async () => {
      await using scene = await openScene(open)
      for (const [minute, requests] of [
        [2000, 1],
        [1986, 10], // the last minute of the window
        [1985, 100], // the newest minute of the day before
        [1985 - 1439, 1_000], // the oldest minute of that day
        [1985 - 1440, 10_000], // before that day: not counted
      ] as const)
        await scene.add([{ ...watched, minute, requests, denials: 1 }])
      assert.deepEqual(await scene.sums(2000), { window: [11, 2], dayBefore: [1_100, 2] })
      await foldStoredDeltas(scene.database)
      assert.deepEqual(await scene.sums(2000), { window: [11, 2], dayBefore: [1_100, 2] })
    })

    it('cover this version in the window, any version in the day before, and no other subject or organization', async () => {
      await using scene = await openScene(open)
      const one = { ...watched, requests: 1, denials: 1 }
      await scene.add([
        { ...one, minute: 2000, version: 1 },
        { ...one, minute: 1900, version: 1 },
        { ...one, minute: 2000, subject: 'pol_2' },
        { ...one, minute: 2000, organizationId: 'org_2' },
      ])
      assert.deepEqual(await scene.sums(2000), { window: [0, 0], dayBefore: [1, 1] })
    })

    it('restart after the minute in which a policy was resumed', async () => {
      await using scene = await openScene(open)
      const count = (minute: number) => scene.add([{ ...watched, minute, requests: 20, denials: 9 }])
      await count(1999)
      await count(2000)
      let policy = await scene.change(await scene.put(), (last) => pausePolicy(last, 1999 * minuteMs))
      policy = await scene.change(policy, (last) => updatePolicy(last, { name: 'other' }, 1999 * minuteMs))
      assert.deepEqual(await scene.sums(2001), { window: [40, 18], dayBefore: [0, 0] })
      policy = await scene.change(policy, (last) => resumePolicy(last, 2000 * minuteMs + 59_999))
      policy = await scene.change(policy, (last) => updatePolicy(last, { name: 'another' }, 2002 * minuteMs))
      await count(2001)
      assert.deepEqual(await scene.sums(2001), { window: [20, 9], dayBefore: [40, 18] })
      assert.deepEqual(await scene.sums(2014), { window: [20, 9], dayBefore: [40, 18] })
      assert.deepEqual(await scene.sums(2016), { window: [0, 0], dayBefore: [60, 27] })
    })

    it('are kept by the hour with what was only recorded, which the window leaves out', async () => {
      await using scene = await openScene(open)
      const recorded = { ...watched, requests: 0, denials: 0, recordedRequests: 5, recordedDenials: 2 }
      await scene.add([{ ...recorded, minute: 1979 }])
      await scene.add([
        { ...recorded, minute: 1980 },
        { ...watched, minute: 1981, requests: 3, denials: 1 },
        { ...recorded, minute: 1981, version: 3 },
        { ...recorded, minute: 1981, subject: 'pol_2' },
        { ...recorded, minute: 1981, organizationId: 'org_2' },
      ])
      assert.deepEqual(await scene.sums(1981), { window: [3, 1], dayBefore: [0, 0] })
      const hour = { subject: 'pol_1', version: 2, requests: 0, denials: 0, recordedRequests: 5, recordedDenials: 2 }
      const expected = [
        { ...hour, hour: 32 },
        { ...hour, hour: 33, requests: 3, denials: 1 },
        { ...hour, hour: 33, version: 3 },
      ]
      assert.deepEqual(await scene.hours(['pol_1'], 0), expected)
      assert.deepEqual(await scene.hours(['pol_1'], 33), expected.slice(1))
      assert.deepEqual(await scene.hours([], 0), [])
      await foldStoredDeltas(scene.database)
      assert.deepEqual(await scene.hours(['pol_1'], 0), expected)
      assert.deepEqual(await scene.hours(['pol_1'], 33), expected.slice(1))
    })

    it('have both sides of a rollout, of the last hour and of this version', async () => {
      await using scene = await openScene(open)
      await scene.addCallers([
        callerCount('key_1', 'user_1', [2000, 1999]),
        callerCount('key_1', 'user_2', [1941, 0]),
        callerCount('key_1', 'user_3', [1940, 1940]), // an hour ago
        callerCount('key_2', 'user_4', [0, 0, 2000, 2000]),
        callerCount('key_2', 'user_5', [0, 0, 1999, 1930]),
        { ...callerCount('key_2', 'user_6', [0, 0, 2000, 2000]), version: 3 },
      ])
      await scene.add([
        { ...watched, minute: 2000, requests: 4, denials: 1, recordedRequests: 9, recordedDenials: 3 },
        { ...watched, minute: 2000, version: 3, requests: 100, denials: 1 },
      ])
      assert.deepEqual(await scene.arms(2000), [
        { side: 'enforced', callers: 2, matchedCallers: 1, requests: 4, matches: 1 },
        { side: 'observed', callers: 2, matchedCallers: 1, requests: 9, matches: 3 },
      ])
      assert.deepEqual((await scene.callers(2000)).callers, [1, 1]) // those of the other side are in no spike
      await scene.counts.removeCallersBefore(1999)
      assert.deepEqual(
        (await scene.arms(2000)).map(({ callers }) => callers),
        [1, 2],
      )
    })

    it('hold each caller once, with its last minutes, over nodes that write at the same time', async () => {
      await using scene = await openScene(open)
      const callers = Array.from({ length: 6 }, (_, at) => callerCount(`key_${at % 3}`, `user_${at}`, [1990 + at, 0]))
      const denied = callers.slice(0, 2).map((each) => ({ ...each, activeMinute: 1986, deniedMinute: 1986 }))
      await Promise.all([scene.addCallers(callers), scene.addCallers(denied.toReversed()), scene.addCallers(callers)])
      assert.deepEqual(await scene.callers(2000), { callers: [6, 2], keys: [3, 2] })
      assert.deepEqual(await scene.callers(2001), { callers: [6, 0], keys: [3, 0] })
      assert.deepEqual(await scene.callers(2009), { callers: [1, 0], keys: [1, 0] })
      await scene.addCallers([
        { ...callerCount('key_9', '', [2000, 2000]), version: 1 },
        { ...callerCount('key_9', '', [2000, 2000]), subject: 'pol_2' },
        { ...callerCount('key_9', '', [2000, 2000]), organizationId: 'org_2' },
      ])
      assert.deepEqual(await scene.callers(2000), { callers: [6, 2], keys: [3, 2] })
      await scene.counts.removeCallersBefore(1992)
      assert.deepEqual(await scene.callers(2000), { callers: [4, 0], keys: [3, 0] })
    })

    it('ignore callers of before a resumption', async () => {
      await using scene = await openScene(open)
      await scene.addCallers([callerCount('key_1', '', [2000, 2000]), callerCount('key_2', '', [2001, 1999])])
      const paused = await scene.change(await scene.put(), (last) => pausePolicy(last, 1999 * minuteMs))
      await scene.change(paused, (last) => resumePolicy(last, 2000 * minuteMs))
      assert.deepEqual(await scene.callers(2001), { callers: [1, 0], keys: [1, 0] })
    })

    it('have a spike reported once while it lasts, and again after a window without it', async () => {
      await using scene = await openScene(open)
      const report = (minute: number) => scene.spikes((spikes) => spikes.report(watched, minute))
      assert.deepEqual((await Promise.all([report(100), report(100)])).sort(), [false, true])
      await scene.counts.extendSpike(watched, 110)
      await scene.counts.extendSpike(watched, 109)
      assert.equal(await report(125), false)
      const spike = { subject: 'pol_1', version: 2, firstMinute: 100, lastMinute: 110 }
      assert.deepEqual(await scene.spikes((spikes) => spikes.findSpike(watched)), spike)
      assert.deepEqual(await scene.spikes((spikes) => spikes.recent('org_1', 110)), [spike])
      assert.deepEqual(await scene.spikes((spikes) => spikes.recent('org_1', 111)), [])
      assert.equal(await report(126), true)
      assert.deepEqual(await scene.spikes((spikes) => spikes.recent('org_1', 0)), [
        { ...spike, firstMinute: 126, lastMinute: 126 },
      ])
      await scene.counts.removeSpikesBefore(127)
      assert.equal(await scene.spikes((spikes) => spikes.findSpike(watched)), undefined)
    })
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const insert = 'insert into organization (id, name, changed_at, created_at) values ($1, $1, 1, 1)'
  await database.write(['org_1', 'org_2'].map((id) => ({ sql: insert, params: [id] })))
  const ids = createIds(systemClock, systemRandom)
  const counts = decisionCounts(database, ids)
  return {
    database,
    counts,
    add: (minutes: readonly MinuteCount[]) => counts.add({ minutes, callers: [] }),
    addCallers: (callers: readonly CallerCount[]) => counts.add({ minutes: [], callers }),
    /** Active and denied. */
    async callers(minute: number) {
      const sums = decisionSums({ query: (sql, params) => database.read(sql, params) })
      const { callers, keys } = await sums.sums(watched, minute)
      return { callers: [callers.active, callers.denied], keys: [keys.active, keys.denied] }
    },
    arms: (minute: number) => rolloutArms({ query: (sql, params) => database.read(sql, params) }).arms(watched, minute),
    spikes: <T>(work: (spikes: ReportedSpikes) => Promise<T>): Promise<T> =>
      database.transaction((tx) => work(reportedSpikes(tx))),
    /** Requests and denials. */
    async sums(minute: number) {
      const sums = decisionSums({ query: (sql, params) => database.read(sql, params) })
      const { window, dayBefore } = await sums.sums(watched, minute)
      return {
        window: [window.requests, window.denials],
        dayBefore: [dayBefore.requests, dayBefore.denials],
      }
    },
    hours: (subjects: readonly string[], fromHour: number) =>
      decisionHours({ query: (sql, params) => database.read(sql, params) }, setClock(0)).hours(
        'org_1',
        subjects,
        fromHour,
      ),
    async put(): Promise<Policy> {
      const draft = createPolicy({ name: 'P', rule: 'R' }, { id: 'pol_1', organizationId: 'org_1', nowMs: 1 })
      const policy = publishPolicy(draft, { publishedBy: null, reason: null, versionId: 'polv_1', nowMs: 1 })
      await database.transaction((tx) => policyStore(tx).insert(policy))
      return policy
    },
    async change(policy: Policy, make: (policy: Policy) => Policy): Promise<Policy> {
      const next = make(policy)
      assert.ok(await database.transaction((tx) => policyStore(tx).replace(next, policy.revision)))
      return next
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
