import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decisionBar, sumOfBars } from './decision-bars.ts'

type Step = Parameters<typeof decisionBar>[0]

const bar = (...results: readonly Partial<Step['results'][number]>[]) =>
  decisionBar({
    start_time: 60,
    end_time: 120,
    results: results.map((result) => ({ requests: 0, errors: 0, denied: 0, ...result })),
  } as Step)

describe('the bar of a step', () => {
  it('starts at its time and counts all requests', () =>
    assert.deepEqual(bar({ decision: 'allow', requests: 5, errors: 2 }), {
      startMs: 60_000,
      values: { requests: 5, errors: 2 },
    }))
  it('counts a decision to deny that did not deny as monitored', () =>
    assert.deepEqual(bar({ decision: 'refuse', requests: 10, denied: 6, errors: 1 }).values, {
      requests: 10,
      errors: 1,
      denied: 6,
      monitored: 3,
    }))
  it('counts every change of a text together', () =>
    assert.equal(
      bar(
        { decision: 'redact', requests: 2 },
        { decision: 'rewrite', requests: 3 },
        { decision: 'summary', requests: 1 },
      ).values['changed'],
      6,
    ))
  it('never counts fewer than none as monitored', () =>
    assert.equal(bar({ decision: 'refuse', requests: 2, denied: 2, errors: 1 }).values['monitored'], 0))
})

it('bars are added up by series', () =>
  assert.deepEqual(
    sumOfBars([
      { startMs: 0, values: { requests: 2, denied: 1 } },
      { startMs: 1, values: { requests: 3, errors: 4 } },
    ]),
    { requests: 5, denied: 1, errors: 4 },
  ))
