import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { restartDelayMs } from './restart-delay.ts'

describe('a worker that dies', () => {
  it('is started again at once, and then after twice as long each time, up to half a minute', () => {
    const worker = { deathsInARow: 0 }
    const delays = Array.from({ length: 9 }, () => restartDelayMs(worker, 1_000))
    assert.deepEqual(delays, [0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })

  it('is started again at once if it ran for a minute before', () => {
    const worker = { deathsInARow: 5 }
    assert.equal(restartDelayMs(worker, 60_000), 0)
    assert.equal(restartDelayMs(worker, 10), 500)
  })
})
