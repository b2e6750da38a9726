import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { marksOf, splitBars, type Publication } from './bars.ts'

type Traffic = Parameters<typeof splitBars>[0]
type Period = Parameters<typeof splitBars>[1]

describe('the bars of the overview', () => {
  it('split errors by who caused them', () => {
    const traffic = { data: [{ start_time: 60, results: [{ decision: 'allow', requests: 9, errors: 6, denied: 0 }] }] }
    const period = { steps: [{ start_time: 60, failed: 1, rate_limited: 3 }] }
    const [bar] = splitBars(traffic as unknown as Traffic, period as unknown as Period)
    assert.deepEqual(bar?.values, { requests: 9, errors: 1, rateLimited: 3, otherErrors: 2 })
  })

  it('have a mark where something came into force, one for all of a bar', () => {
    const bars = [0, 60, 120].map((seconds) => ({ startMs: seconds * 1_000, values: {} }))
    const at = (seconds: number) => ({ at: seconds }) as Publication
    assert.deepEqual(marksOf(bars, [at(59), at(60), at(119), at(500), at(-1)]), [
      { at: 0, publications: [at(59)] },
      { at: 1, publications: [at(60), at(119)] },
      { at: 2, publications: [at(500)] },
    ])
  })
})
