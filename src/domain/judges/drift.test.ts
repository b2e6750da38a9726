import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noCounts, type JudgeDay } from './counts.ts'
import { driftOf, type DriftFacts } from './drift.ts'

const of = { organizationId: 'org_1', judgeId: 'jdg_1', version: 1, policyId: 'pol_1' }
const spread = (low: number, high: number): number[] => [low, 0, 0, 0, 0, 0, 0, 0, 0, high]
const dayOf = (day: number, counts: Partial<JudgeDay>): JudgeDay => ({ ...of, ...noCounts, day, ...counts })
const week = Array.from({ length: 7 }, (_, at) => dayOf(at, { scores: spread(90, 10) }))

const calm: DriftFacts = {
  fixed: { items: [], kappa: 0.8 },
  hasBase: true,
  nightly: undefined,
  days: week,
  today: 20,
}
const withKappa = (kappa: number | null): DriftFacts => ({
  ...calm,
  nightly: { report: { kappa } as NonNullable<NonNullable<DriftFacts['nightly']>['report']> },
})
const kindsOf = (facts: DriftFacts): string[] => driftOf(facts).map(({ kind }) => kind)

describe('the drift of a judge', () => {
  it('is a kappa that fell by 0.1 on the same labels', () => {
    assert.deepEqual(kindsOf(withKappa(0.7)), ['kappa'])
    assert.deepEqual(kindsOf(withKappa(0.71)), [])
    assert.deepEqual(kindsOf(withKappa(null)), [])
  })

  it('is a spread of the scores of two days that differs from the first week', () => {
    const days = (low: number, high: number) => [...week, dayOf(20, { scores: spread(low, high) })]
    assert.deepEqual(kindsOf({ ...calm, days: days(120, 120) }), ['scores'])
    assert.deepEqual(kindsOf({ ...calm, days: days(200, 25) }), [])
    assert.deepEqual(kindsOf({ ...calm, days: days(40, 40) }), [], 'eighty scores say nothing')
  })

  it('is more than 2 % of failures, of at least fifty questions', () => {
    const days = (asked: number, failed: number) => [...week, dayOf(20, { asked, failed })]
    assert.deepEqual(kindsOf({ ...calm, days: days(100, 3) }), ['failures'])
    assert.deepEqual(kindsOf({ ...calm, days: days(100, 2) }), [])
    assert.deepEqual(kindsOf({ ...calm, days: days(40, 40) }), [])
  })
})
