import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BacktestBody } from '../../http/admin/policies/backtest-schema.ts'
import { awaitBacktest, barOf } from './await-backtest.ts'

const at = (done: number, status: BacktestBody['status'] = 'running'): BacktestBody => ({
  id: 'bt_1',
  object: 'organization.policy.backtest',
  policy_id: 'pol_1',
  revision: 1,
  has_changes: false,
  status,
  progress: { done, total: 10 },
  from: 0,
  to: 1,
  limit: 10,
  sample_percent: 100,
  result: null,
  error: null,
  created_at: 0,
  updated_at: 0,
})

/** Advances the clock instead of waiting. */
function createLeaps() {
  let nowMs = 0
  return { clock: { monotonicMs: () => nowMs }, wait: async (ms: number) => void (nowMs += ms) }
}

describe('waiting for a backtest', () => {
  it('shows the progress, and ends with the backtest', async () => {
    const shown: string[] = []
    const answers = [at(5), at(10, 'completed')]
    const ended = await awaitBacktest(at(0), {
      read: async () => answers.shift() ?? assert.fail('read after the end'),
      ...createLeaps(),
      progress: (text) => void shown.push(text),
    })
    assert.equal(ended.status, 'completed')
    assert.deepEqual(shown, [barOf(at(0)), barOf(at(5)), ''])
    assert.equal(barOf(at(5)), `[${'='.repeat(15)}${' '.repeat(15)}] 50 %  5 of 10 events`)
  })

  it('gives up if the backtest makes no progress, and not before', async () => {
    const { clock, wait } = createLeaps()
    let done = 0
    const read = async () => at(clock.monotonicMs() < 60_000 ? (done += 0.01) : done)
    const ended = await awaitBacktest(at(0), { read, clock, wait, progress: undefined })
    assert.equal(ended.status, 'running')
    assert.ok(clock.monotonicMs() > 79_000 && clock.monotonicMs() < 81_000)
  })
})
