import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hourMs } from '../../base/clock.ts'
import type { AuditRecord } from '../mutations/audit-log.ts'
import type { Budget } from './budget.ts'
import type { MemberSpent } from './spent.ts'
import { readBudgetStatus } from './status.ts'
import {
  createReportThresholds,
  type ReachedThreshold,
  type ThresholdParts,
  type ThresholdStore,
} from './thresholds.ts'

const noon = Date.UTC(2026, 10, 19, 12)
const midnight = Date.UTC(2026, 10, 19)
const budget: Budget = {
  id: 'bud_1',
  organizationId: 'org_1',
  name: 'Team red',
  match: { projectIds: [], keyIds: [], models: [], users: [], tags: {} },
  per: 'user',
  unit: 'usd',
  amount: 10_000_000,
  period: 'day',
  timeZone: 'UTC',
  action: { type: 'deny' },
  warnAt: [50, 80, 95],
  extra: null,
  state: 'active',
  revision: 1,
  createdAtMs: noon,
  updatedAtMs: noon,
}

/** A node that reports to a store, which nodes may share. */
function nodeOf({ marked = [] as string[], given = budget, now = { ms: noon } } = {}) {
  const records: AuditRecord[] = []
  let spent: readonly MemberSpent[] = []
  const nameOf = ({ member, periodStartMs, percent }: ReachedThreshold) => `${member} ${periodStartMs} ${percent}`
  const thresholds: ThresholdStore = {
    lock: async () => {},
    mark: async (reached) => !marked.includes(nameOf(reached)) && marked.push(nameOf(reached)) > 0,
    forgetBefore: async () => {},
    ofPeriod: async () => [],
  }
  const mutate: ThresholdParts['mutate'] = async (_actor, work) => {
    const { value, further = [] } = await work({ thresholds })
    records.push(...further)
    return value
  }
  const run = createReportThresholds({
    listActive: async () => [given],
    reported: thresholds,
    readSpent: async () => spent,
    mutate,
    clock: { nowMs: () => now.ms, monotonicMs: () => 0 },
  })
  return {
    now,
    /** The members and percents of the events that the run wrote. */
    async report(next: Readonly<Record<string, number>>): Promise<unknown[]> {
      spent = Object.entries(next).map(([member, usd]) => ({ member, spent: usd * 1_000_000 }))
      const before = records.length
      await run()
      return records.slice(before).map(({ details }) => [details['member'], details['percent']])
    },
    records,
  }
}

describe('a threshold of a budget', () => {
  it('is reported once for each member and period', async () => {
    const { report, now } = nodeOf()
    assert.deepEqual(await report({ ada: 4.99 }), [])
    assert.deepEqual(await report({ ada: 5, bob: 8.5 }), [
      ['ada', 50],
      ['bob', 80],
    ])
    assert.deepEqual(await report({ ada: 5, bob: 9 }), [])
    now.ms += 24 * hourMs
    assert.deepEqual(await report({ ada: 6 }), [['ada', 50]])
  })

  it('is reported with the lower ones that were reached together', async () => {
    const { report, records } = nodeOf()
    assert.deepEqual(await report({ ada: 12.5 }), [['ada', 95]])
    assert.deepEqual(await report({ ada: 13 }), [])
    assert.deepEqual(records[0], {
      kind: 'budget.threshold_reached',
      resourceId: 'bud_1',
      details: {
        name: 'Team red',
        per: 'user',
        member: 'ada',
        percent: 95,
        unit: 'usd',
        spent: 12.5,
        amount: 10,
        period: 'day',
        period_start: midnight / 1000,
        period_end: midnight / 1000 + 86_400,
        action: 'deny',
      },
    })
  })

  it('is reported by one of the nodes that find it together', async () => {
    const marked: string[] = []
    const [one, other] = [nodeOf({ marked }), nodeOf({ marked })]
    const reports = await Promise.all([one.report({ ada: 9 }), other.report({ ada: 9 })])
    assert.deepEqual(reports.flat(), [['ada', 80]])
  })

  it('is a share of the amount with its extra', async () => {
    const extra = { amount: 10_000_000, untilMs: noon + hourMs, reason: 'Launch' }
    const { report, now } = nodeOf({ given: { ...budget, extra } })
    assert.deepEqual(await report({ ada: 9 }), [])
    now.ms += hourMs
    assert.deepEqual(await report({ ada: 9 }), [['ada', 80]])
  })
})

describe('the status of a budget', () => {
  const status = async (given: Budget, spent: readonly MemberSpent[], nowMs = noon) => {
    const { members, hasMore } = await readBudgetStatus(given, async () => spent, nowMs)
    return { members, hasMore }
  }

  it('has the highest share first, what is left, and what is spent if it goes on like this', async () => {
    const spent = [
      { member: 'ada', spent: 1_000_001 },
      { member: 'bob', spent: 12_000_000 },
    ]
    assert.deepEqual((await status(budget, spent)).members, [
      { member: 'bob', amount: 10_000_000, spent: 12_000_000, left: 0, percent: 120, forecast: 24_000_000 },
      { member: 'ada', amount: 10_000_000, spent: 1_000_001, left: 8_999_999, percent: 10, forecast: 2_000_002 },
    ])
  })

  it('has no forecast in the first hour, and none for a budget without an end', async () => {
    const spent = [{ member: 'ada', spent: 1 }]
    const forecasts = async (given: Budget, nowMs: number) =>
      (await status(given, spent, nowMs)).members.map(({ forecast }) => forecast)
    assert.deepEqual(await forecasts(budget, midnight + hourMs - 1), [null])
    assert.deepEqual(await forecasts(budget, midnight + hourMs), [24])
    assert.deepEqual(await forecasts({ ...budget, period: 'once' }, noon + 9 * hourMs), [null])
  })

  it('has at most 100 members, and one without requests if all share the amount', async () => {
    const many = Array.from({ length: 101 }, (_, at) => ({ member: `user-${at}`, spent: at }))
    const { members, hasMore } = await status(budget, many)
    assert.deepEqual([members.length, members[0]?.spent, hasMore], [100, 100, true])
    const unused = await status({ ...budget, per: 'all' }, [])
    assert.deepEqual(
      unused.members.map(({ member, spent, percent }) => [member, spent, percent]),
      [[null, 0, 0]],
    )
  })
})
