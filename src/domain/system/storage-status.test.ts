import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { weeklyGrowth } from './storage-status.ts'

const million = 1_000_000

describe('the growth of a week', () => {
  it('is the size of as many requests as in the last week', () => {
    const counts = { events: million, eventsEver: million, requestsLastWeek: million / 2, requestsExpiring: 0 }
    assert.equal(weeklyGrowth(2_200 * million, counts), 1_100 * million)
  })

  it('is only the ledger once as many events expire as are added', () => {
    const counts = { events: million, eventsEver: 9 * million, requestsLastWeek: 1_000, requestsExpiring: 1_000 }
    assert.equal(weeklyGrowth(8_000 * million, counts), 660_000)
  })

  it('counts at least the usual size of an event, because the ledger may have been trimmed', () => {
    const counts = { events: 1_000, eventsEver: 9 * million, requestsLastWeek: 1_000, requestsExpiring: 0 }
    assert.equal(weeklyGrowth(3 * million, counts), 2_160_000)
  })

  it('is nothing without requests, or while more events expire than are added', () => {
    const none = { events: 0, eventsEver: 0, requestsLastWeek: 0, requestsExpiring: 0 }
    assert.equal(weeklyGrowth(million, none), 0)
    const fewer = { events: 1_000, eventsEver: 1_000, requestsLastWeek: 10, requestsExpiring: 900 }
    assert.equal(weeklyGrowth(2_200_000, fewer), 0)
  })
})
