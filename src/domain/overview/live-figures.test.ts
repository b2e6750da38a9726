import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Clock } from '../../base/clock.ts'
import { createLiveFigures } from './live-figures.ts'

function scene() {
  let nowMs = 0
  let sequence = 7
  let sumsRead = 0
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} }
  const traffic = {
    async sums() {
      sumsRead++
      return []
    },
  }
  const events = {
    async newRequests(_: string, { after }: { readonly after: number | undefined }) {
      return { count: after === undefined ? 0 : sequence - after, items: [], sequence }
    },
  }
  const next = createLiveFigures({ events, traffic, clock }, 'org_1')
  return {
    sumsRead: () => sumsRead,
    /** A second passes, in which this many requests end. */
    async second(requests: number): Promise<number> {
      nowMs += 1_000
      sequence += requests
      return (await next()).requestsPerSecond
    },
    first: async () => (await next()).requestsPerSecond,
  }
}

describe('live figures', () => {
  it('count the requests since the reader came, not those before', async () => {
    const { first, second } = scene()
    assert.equal(await first(), 0)
    assert.equal(await second(200), 200)
    assert.equal(await second(100), 150)
  })

  it('forget what is older than ten seconds', async () => {
    const { first, second } = scene()
    await first()
    await second(1_000)
    for (let at = 0; at < 10; at++) await second(20)
    assert.equal(await second(20), 20)
  })

  it('read the sums every five seconds only', async () => {
    const { first, second, sumsRead } = scene()
    await first()
    for (let at = 0; at < 10; at++) await second(1)
    assert.equal(sumsRead(), 3)
  })
})
